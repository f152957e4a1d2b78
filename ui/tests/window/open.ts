// Owns the tests' browser: the scripted build on a loopback address, Debian's Chromium, and the ways to a scene and a
// screen. It asserts nothing.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Locator, type Page } from 'playwright-core'
import type { CodePermission } from '../../src/ipc/types'
import type { SceneName } from '../script/scenes'

const built = fileURLToPath(new URL('../../dist-scripted', import.meta.url))
const kinds: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.woff2': 'font/woff2',
  '.svg': 'image/svg+xml',
}

export type Ground = { browser: Browser; address: string; close: () => Promise<void> }
export type Look = {
  scene?: SceneName
  theme?: 'light' | 'dark'
  language?: 'en' | 'zh_hans'
  width?: number
  height?: number
}

export async function ground(): Promise<Ground> {
  if (!existsSync(join(built, 'index.html'))) throw new Error('the scripted build is missing: npm run build:scripted')
  // The build is read once: one made meanwhile does not change what a test sees.
  const files = new Map(filesOf(built).map((path) => [`/${relative(built, path)}`, readFileSync(path)]))
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const path = pathname === '/' ? '/index.html' : decodeURIComponent(pathname)
    const content = files.get(path)
    if (content)
      response.writeHead(200, { 'content-type': kinds[extname(path)] ?? 'application/octet-stream' }).end(content)
    else response.writeHead(404).end()
  })
  const address = await listening(server)
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--font-render-hinting=none',
    ],
  })
  return {
    browser,
    address,
    close: async () => {
      await browser.close()
      await new Promise((done) => server.close(done))
    },
  }
}

function filesOf(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesOf(path) : [path]
  })
}

function listening(server: Server): Promise<string> {
  return new Promise((found) => {
    server.listen(0, '127.0.0.1', () => {
      const at = server.address()
      found(`http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}`)
    })
  })
}

/** A page at a scene, ready for use. What the page logs as an error, and every address it asks for outside, is kept. */
export async function open(on: Ground, look: Look = {}): Promise<{ page: Page; errors: string[] }> {
  const context = await on.browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    locale: look.language === 'zh_hans' ? 'zh-CN' : 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('request', (request) => {
    if (
      !request.url().startsWith(on.address) &&
      !request.url().startsWith('data:') &&
      !request.url().startsWith('blob:')
    )
      errors.push(`asked for ${request.url()}`)
  })
  await page.clock.setFixedTime(new Date('2026-11-21T17:00:00Z'))
  const query = new URLSearchParams({
    scene: look.scene ?? 'usual',
    theme: look.theme ?? 'light',
    language: look.language ?? 'en',
  })
  await page.goto(`${on.address}/?${query.toString()}`)
  await page.waitForSelector('main')
  await page.evaluate(() => document.fonts.ready)
  return { page, errors }
}

export type Place = 'solve' | 'runs' | 'memory' | 'models' | 'settings' | 'repositories'
const keys: Record<Place, string> = {
  solve: 'Control+1',
  runs: 'Control+2',
  memory: 'Control+3',
  models: 'Control+4',
  settings: 'Control+5',
  repositories: 'Control+6',
}

export async function go(page: Page, place: Place): Promise<void> {
  await page.keyboard.press(keys[place])
  await settled(page)
}

/** Waits until nothing is being loaded and two frames have been drawn. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null)
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Waits until the focus is on this or inside it: keys that come before go elsewhere. */
export async function focusWithin(place: Locator): Promise<void> {
  await place.and(place.page().locator(':focus-within')).first().waitFor()
}

/** Opens the inspector where the window is too narrow for it to stand there by itself. */
export async function showInspector(page: Page): Promise<void> {
  if (!(await page.getByRole('complementary').isVisible())) await page.keyboard.press('Control+i')
  await settled(page)
}

/** Opens the recorded run as it was. */
export async function openRun(page: Page): Promise<void> {
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await settled(page)
}

/** Presses a key at the second run of the list, the recorded one whose patch changes one file. */
async function second(page: Page, key: string): Promise<void> {
  await go(page, 'runs')
  await page.getByRole('grid').first().focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press(key)
  await settled(page)
}

/** Opens a stage of the shown run, if it is folded, with its head at the top. */
export async function stage(page: Page, name: string): Promise<void> {
  const head = page.locator(`#stage-${name} .fold`)
  if ((await head.getAttribute('aria-expanded')) === 'false') await head.click()
  await page.locator(`#stage-${name}`).evaluate((element) => element.scrollIntoView({ block: 'start' }))
  await settled(page)
}

/** Chooses that tests are run. */
export async function withTests(page: Page): Promise<void> {
  // The form asks what is allowed when it opens, and the window begins with it.
  await go(page, 'runs')
  await go(page, 'solve')
  await page.getByRole('radio').nth(1).check()
  await page.locator('fieldset').evaluate((element) => element.scrollIntoView({ block: 'start' }))
  await settled(page)
}

/** The same, and types a command of one's own. */
export async function withTypedCommand(page: Page, line: string): Promise<void> {
  await withTests(page)
  await page.getByRole('combobox', { name: /^(Test command|测试命令)/ }).click()
  await page.getByRole('option', { name: /^(Another command|其他命令)/ }).click()
  await page.getByRole('textbox', { name: /^(Command, from the root|命令（从仓库根目录)/ }).fill(line)
  await page.waitForTimeout(300)
  await settled(page)
}

/** The same where nothing isolates what is run. */
export async function withoutIsolation(page: Page): Promise<void> {
  await page.evaluate(() =>
    window.magis.answer('codePermission', {
      issue_code: null,
      not_isolated: { code: 'name_spaces', said: 'EPERM: Operation not permitted' },
    } satisfies CodePermission),
  )
  await withTests(page)
}

/** The same where no test command is found, and what the issue shows is chosen. */
export async function withIssueCode(page: Page): Promise<void> {
  await page.evaluate(() => window.magis.answer('testCommands', []))
  await withTests(page)
  await page.getByRole('radio').nth(2).check()
  await settled(page)
}

/** Looks a repository up on the hub. */
export async function lookUp(page: Page, name: string): Promise<void> {
  await go(page, 'models')
  await page.keyboard.press('/')
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await settled(page)
}

/** Opens the page of the settings for another engine. */
export async function otherEngine(page: Page): Promise<void> {
  await go(page, 'settings')
  await page.locator('main nav button').nth(2).click()
  await settled(page)
}

/** Everything that can be shown, by name, with the way to it. */
export const screens: { name: string; look?: Look; to: (page: Page) => Promise<void> }[] = [
  { name: 'start', look: { scene: 'first' }, to: settled },
  {
    name: 'start-fetching',
    look: { scene: 'first' },
    to: async (page) => {
      await page
        .locator('main button', { hasText: /Download|下载/ })
        .first()
        .click()
      await settled(page)
    },
  },
  {
    name: 'start-sample',
    look: { scene: 'first' },
    to: async (page) => {
      await page
        .locator('main button', { hasText: /Download|下载/ })
        .first()
        .click()
      await page.evaluate(() => window.magis.fetched('qwen2.5-coder-1.5b'))
      await page.locator('main button', { hasText: /Use the sample|使用示例/ }).click()
      await settled(page)
    },
  },
  { name: 'repositories', to: (page) => go(page, 'repositories') },
  { name: 'repositories-problem', look: { scene: 'problems' }, to: (page) => go(page, 'repositories') },
  { name: 'repositories-empty', look: { scene: 'empty' }, to: (page) => go(page, 'repositories') },
  { name: 'solve', to: (page) => go(page, 'solve') },
  {
    name: 'solve-running',
    look: { scene: 'running' },
    to: async (page) => {
      await go(page, 'runs')
      await page.getByRole('grid').first().focus()
      await page.keyboard.press('Home')
      await page.keyboard.press('Enter')
      await settled(page)
    },
  },
  { name: 'run', to: openRun },
  { name: 'solve-tests-consent', to: withTests },
  { name: 'solve-tests-typed', to: (page) => withTypedCommand(page, 'ctest --test-dir build') },
  { name: 'solve-tests-refused', to: (page) => withTypedCommand(page, "make 'check") },
  { name: 'solve-tests-without-isolation', to: withoutIsolation },
  { name: 'solve-tests-issue-code', to: withIssueCode },
  { name: 'solve-tests-allowed', look: { scene: 'evidence' }, to: withTests },
  {
    name: 'run-evidence',
    look: { scene: 'evidence' },
    to: async (page) => {
      await openRun(page)
      await stage(page, 'evidence')
    },
  },
  {
    name: 'run-check-edited',
    look: { scene: 'evidence' },
    to: async (page) => {
      await openRun(page)
      await stage(page, 'evidence')
      await page
        .locator('article summary', { hasText: /What is run|运行的内容/ })
        .first()
        .click()
      await page.locator('.edited textarea').first().fill('from tally.report import table\ntable({})')
      await page.locator('.edited .actions button').first().click()
      await page.locator('.edited h4').first().waitFor()
      await settled(page)
    },
  },
  {
    name: 'run-attempts',
    look: { scene: 'attempts' },
    to: async (page) => {
      await openRun(page)
      await stage(page, 'code')
      await page.locator('.grid button').first().click()
      await page
        .locator('main summary', { hasText: /Tests|测试/ })
        .first()
        .click()
      await settled(page)
    },
  },
  {
    name: 'run-edits',
    look: { scene: 'edits' },
    to: async (page) => {
      await openRun(page)
      await stage(page, 'code')
    },
  },
  {
    name: 'run-proof',
    look: { scene: 'evidence' },
    to: async (page) => {
      await openRun(page)
      await stage(page, 'merge')
    },
  },
  {
    name: 'review-proof',
    look: { scene: 'evidence' },
    to: async (page) => {
      await openRun(page)
      await page.keyboard.press('r')
      await page.locator('[data-line]').first().waitFor()
      await settled(page)
    },
  },
  { name: 'runs', to: (page) => go(page, 'runs') },
  { name: 'runs-many', look: { scene: 'many' }, to: (page) => go(page, 'runs') },
  { name: 'runs-empty', look: { scene: 'empty' }, to: (page) => go(page, 'runs') },
  {
    name: 'review',
    to: async (page) => {
      await openRun(page)
      await page.keyboard.press('r')
      await page.waitForFunction(() => window.magis.asked.some((one) => one.name === 'patch'))
      await settled(page)
    },
  },
  {
    name: 'readme-run',
    to: async (page) => {
      await second(page, 'Enter')
      for (const stage of ['locate', 'meeting']) await page.locator(`#stage-${stage} .fold`).click()
      await page.evaluate(() => document.querySelector('.log')?.scrollTo(0, 0))
      await page.mouse.move(0, 0)
      await settled(page)
    },
  },
  {
    name: 'readme-review',
    to: async (page) => {
      await second(page, 'r')
      await page.locator('[data-line]').first().waitFor()
      await page.keyboard.press('x')
      await page.keyboard.press('a')
      await settled(page)
    },
  },
  { name: 'memory', to: (page) => go(page, 'memory') },
  {
    name: 'memory-summary',
    to: async (page) => {
      await go(page, 'memory')
      await page.getByRole('grid').first().focus()
      await page.locator('input[type=search]').fill('banks/statement.py')
      await page.getByRole('grid').first().focus()
      await page.keyboard.press('Home')
      await settled(page)
    },
  },
  { name: 'models', to: (page) => go(page, 'models') },
  {
    name: 'memory-correct',
    to: async (page) => {
      await go(page, 'memory')
      await page.locator('input[type=search]').fill('tally/filters.py')
      await page.getByRole('grid').first().focus()
      await page.keyboard.press('Home')
      await showInspector(page)
      await page.getByRole('button', { name: /^(Correct|更正)$/ }).click()
      await settled(page)
    },
  },
  {
    name: 'models-fetching',
    to: async (page) => {
      await go(page, 'models')
      await page.locator('main button').filter({ hasText: '491 MB' }).click()
      await page.locator('main button[aria-haspopup=menu]').first().click()
      await settled(page)
    },
  },
  {
    name: 'remove-model',
    to: async (page) => {
      await go(page, 'models')
      await page
        .getByRole('button', { name: /Qwen2\.5-Coder 1\.5B/ })
        .and(page.locator('[aria-haspopup=menu]'))
        .press('Enter')
      await focusWithin(page.getByRole('menu'))
      await page.keyboard.press('End')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await settled(page)
    },
  },
  {
    name: 'erase',
    to: async (page) => {
      await go(page, 'settings')
      await page.locator('main nav button').nth(4).click()
      await page.getByRole('button', { name: /^(Remove all data|清除全部数据)$/ }).click()
      await settled(page)
    },
  },
  {
    name: 'rail-wide-toast',
    to: async (page) => {
      await go(page, 'repositories')
      await page.keyboard.press('Control+b')
      await page.getByRole('grid').focus()
      await page.keyboard.press('End')
      await page.keyboard.press('Delete')
      await page.locator('.toast').waitFor()
      await settled(page)
    },
  },
  {
    name: 'large',
    to: async (page) => {
      await go(page, 'settings')
      for (let step = 0; step < 5; step += 1) await page.getByRole('button', { name: /^(Larger|放大)$/ }).click()
      await page.getByRole('tab', { name: /^(Comfortable|宽松)$/ }).click()
      await settled(page)
    },
  },
  {
    name: 'models-hub',
    to: async (page) => {
      await lookUp(page, 'unsloth/Qwen3-Coder-Next-GGUF')
      await page.locator('section:last-of-type li button').first().click()
      await page.locator('section:last-of-type li').last().scrollIntoViewIfNeeded()
      await settled(page)
    },
  },
  {
    name: 'models-hub-refused',
    to: async (page) => {
      await page.evaluate(() =>
        window.magis.answer('hubModels', {
          code: 'hub_closed',
          message: 'The hub shows no repository some-one/other to everybody: it is not there, or it wants an account.',
          remedy: 'Look at its page, accept its terms there if it has some, and give your token in HF_TOKEN.',
          given: { repo: 'some-one/other', page: 'https://huggingface.co/some-one/other' },
        }),
      )
      await lookUp(page, 'some-one/other')
    },
  },
  {
    name: 'settings-engine-checked',
    to: async (page) => {
      await otherEngine(page)
      await page.getByRole('textbox', { name: /^(Address|地址)$/ }).fill('https://gpu.lan:8000')
      await page.getByRole('button', { name: /^(Check|检查)$/ }).click()
      await page.locator('.answer p').waitFor()
      await settled(page)
    },
  },
  { name: 'settings-engine-used', look: { scene: 'engine' }, to: otherEngine },
  { name: 'solve-engine', look: { scene: 'engine' }, to: (page) => go(page, 'solve') },
  { name: 'run-engine', look: { scene: 'engine' }, to: openRun },
  {
    name: 'settings-privacy-engine',
    look: { scene: 'engine' },
    to: async (page) => {
      await go(page, 'settings')
      await page.locator('main nav button').nth(3).click()
      await settled(page)
    },
  },
  { name: 'models-empty', look: { scene: 'empty' }, to: (page) => go(page, 'models') },
  { name: 'settings-appearance', to: (page) => go(page, 'settings') },
  ...(['engine', 'other-engine', 'privacy', 'data', 'about'] as const).map((name, at) => ({
    name: `settings-${name}`,
    to: async (page: Page): Promise<void> => {
      await go(page, 'settings')
      await page
        .locator('main nav button')
        .nth(at + 1)
        .click()
      await settled(page)
    },
  })),
  {
    name: 'settings-report',
    to: async (page) => {
      await go(page, 'settings')
      await page.locator('main nav button').nth(5).click()
      await page.getByRole('button', { name: /^(Show the report|查看报告)$/ }).click()
      await page.getByRole('region', { name: /^(Report|报告)$/ }).waitFor()
      await settled(page)
    },
  },
  {
    name: 'palette',
    to: async (page) => {
      await page.keyboard.press('Control+k')
      await settled(page)
    },
  },
  {
    name: 'switcher',
    to: async (page) => {
      await page.keyboard.press('Control+p')
      await settled(page)
    },
  },
  {
    name: 'keys',
    to: async (page) => {
      // The issue has the focus, and takes a question mark as its own.
      await page.keyboard.press('Control+/')
      await settled(page)
    },
  },
  {
    name: 'close',
    look: { scene: 'running' },
    to: async (page) => {
      await page.evaluate(() => window.magis.emit({ name: 'closeAsked', payload: { running: 1 } }))
      await settled(page)
    },
  },
]
