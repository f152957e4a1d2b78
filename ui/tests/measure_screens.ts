// Measures what is asked of the three large screens: a diff of 5,000 changed lines in 200 files, 10,000 runs, and four
// Developers streaming. Prints numbers; it judges none. Usage: npx tsx tests/measure_screens.ts, after npm run
// build:scripted.
import type { CDPSession, Page } from 'playwright-core'
import { bigPatch } from './script/big_patch'
import { go, ground, open as opened, settled, type Ground, type Look } from './window/open'

const ROUNDS = 9
/** Enough for the first opening, in which everything runs for the first time, to be one of twenty. */
const LIST_ROUNDS = 21

/** tsx names inner functions by a call of its own, which the page does not have. */
async function open(on: Ground, look: Look = {}): Promise<{ page: Page }> {
  const { page } = await opened(on, look)
  await page.evaluate('globalThis.__name = (one) => one')
  return { page }
}

const on = await ground()

function spread(name: string, values: number[]): void {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0)
  console.log(`${name}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, n ${values.length}`)
}

/** From a key press to the frame in which `ready` holds. */
async function time(page: Page, key: string, ready: string): Promise<number> {
  await page.evaluate((selector) => {
    const marks = window as unknown as { began: number; took: number | null }
    marks.took = null
    addEventListener(
      'keydown',
      () => {
        marks.began = performance.now()
        const look = (): void => {
          if (document.querySelector(selector))
            requestAnimationFrame(() => (marks.took = performance.now() - marks.began))
          else requestAnimationFrame(look)
        }
        requestAnimationFrame(look)
      },
      { once: true, capture: true },
    )
  }, ready)
  await page.keyboard.press(key)
  await page.waitForFunction(() => (window as unknown as { took: number | null }).took !== null)
  return page.evaluate(() => (window as unknown as { took: number }).took)
}

async function cpu(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find((one) => one.name === 'TaskDuration')?.value ?? 0
}

const opening: number[] = []
for (let round = 0; round < ROUNDS; round += 1) {
  const { page } = await open(on)
  await page.evaluate((patch) => window.magis.answer('patch', patch), bigPatch(200, 25))
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await settled(page)
  opening.push(await time(page, 'r', '[data-line]'))
  await page.context().close()
}
spread('open 5,000 changed lines in 200 files', opening)

/** The tasks of the page's main thread in a trace: how long each took, and how much of that it was really at work. */
function tasksOf(trace: Buffer): { wall: number; work: number }[] {
  type Entry = {
    name: string
    ph: string
    pid: number
    tid: number
    dur?: number
    tdur?: number
    args?: { name?: string }
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: Entry[] }
  const threads = traceEvents
    .filter((one) => one.name === 'thread_name' && one.args?.name === 'CrRendererMain')
    .map((one) => `${one.pid} ${one.tid}`)
  return traceEvents
    .filter((one) => one.ph === 'X' && /RunTask$/.test(one.name) && threads.includes(`${one.pid} ${one.tid}`))
    .map((one) => ({ wall: (one.dur ?? 0) / 1000, work: (one.tdur ?? one.dur ?? 0) / 1000 }))
}

for (const layout of ['unified', 'split'] as const) {
  const { page } = await open(on)
  await page.evaluate((patch) => window.magis.answer('patch', patch), bigPatch(200, 25))
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await settled(page)
  await page.keyboard.press('r')
  await page.locator('[data-line]').first().waitFor()
  if (layout === 'split') await page.keyboard.press('d')
  await settled(page)
  await on.browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  await page.evaluate(async () => {
    const pane = document.querySelector('[aria-label="Diff of the patch"]')
    for (let step = 0; pane && step < 240; step += 1) {
      pane.scrollTop += step % 60 === 59 ? 20_000 : 180
      await new Promise((next) => requestAnimationFrame(next))
    }
  })
  const tasks = tasksOf(await on.browser.stopTracing())
  const longest = (of: 'wall' | 'work'): number => Math.round(Math.max(0, ...tasks.map((task) => task[of])))
  const over = (of: 'wall' | 'work'): number => tasks.filter((task) => task[of] > 50).length
  console.log(
    `scroll ${layout}: longest task ${longest('wall')} ms by the clock, ${longest('work')} ms at work; over 50 ms: ${over('wall')} and ${over('work')} of ${tasks.length}`,
  )
  await page.context().close()
}

{
  const { page } = await open(on, { scene: 'many' })
  const lists: number[] = []
  const searches: number[] = []
  for (let round = 0; round < LIST_ROUNDS; round += 1) {
    await go(page, 'models')
    lists.push(await time(page, 'Control+2', '[role=grid] [role=gridcell]'))
    await settled(page)
    await page.keyboard.press('/')
    searches.push(await time(page, 'r', '[role=grid] mark'))
    await page.keyboard.press('Escape')
    await settled(page)
  }
  spread('open 10,000 runs', lists)
  spread('type a search in 10,000 runs, to the match shown', searches)
  await page.context().close()
}

{
  const { page } = await open(on, { scene: 'running' })
  await page.evaluate(() => window.magis.advance(6, 24))
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await settled(page)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const before = await cpu(session)
  const seconds = 10
  await page.evaluate(async (length) => {
    const words = window.magis.recordedCalls(6).flatMap((call) => call.reply.match(/\s*\S+/g) ?? [])
    const tasks = [1, 2, null, 3]
    for (const task of tasks)
      window.magis.news(6, {
        kind: 'call_started',
        stage: 'code',
        agent: 'developer',
        step: 'P10-code',
        task,
        path: null,
      })
    let at = 0
    // Twenty messages a second for each of four, fifty tokens a second in all of them.
    await new Promise<void>((done) => {
      const began = performance.now()
      const ticking = setInterval(() => {
        for (const task of tasks) {
          const delta = [
            words[at % words.length],
            words[(at + 1) % words.length],
            at % 2 === 0 ? words[(at + 2) % words.length] : '',
          ].join('')
          window.magis.news(6, { kind: 'text', task, agent: 'developer', step: 'P10-code', delta })
          at += 3
        }
        if (performance.now() - began > length * 1000) {
          clearInterval(ticking)
          done()
        }
      }, 50)
    })
  }, seconds)
  console.log(
    `streaming four at 50 tokens/s: ${Math.round((100 * ((await cpu(session)) - before)) / seconds)} % of a core in the page's main thread`,
  )
  await page.context().close()
}
await on.close()
