// Owns the pictures: every screen in both themes, both languages and four sizes, as PNG files in a folder. Usage: npm
// run screenshots -- <folder> [part of a screen's name]. The folder is not committed. The README shows two of them in
// English, light and large: readme-run and readme-review, in `screenshots` as run.png and review.png.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ground, open, screens, type Look } from './window/open'

const [folder, part = ''] = process.argv.slice(2)
if (!folder) throw new Error('name a folder: npm run screenshots -- <folder>')
mkdirSync(folder, { recursive: true })

const looks: Look[] = []
for (const [width, height] of [
  [900, 600],
  [1000, 700],
  [1280, 800],
  [1920, 1080],
] as const) {
  for (const theme of ['light', 'dark'] as const)
    for (const language of ['en', 'zh_hans'] as const) looks.push({ theme, language, width, height })
}
const only = process.env['LOOKS']?.split(',')

const on = await ground()

/** The picture is taken as far as one comes; a fault of the page is thrown behind it. */
async function take(screen: (typeof screens)[number], look: Look, path: string): Promise<void> {
  const { page, errors } = await open(on, { ...screen.look, ...look })
  try {
    await screen.to(page).finally(() => page.screenshot({ path }))
    if (errors.length > 0) throw new Error(errors.join('; '))
  } finally {
    await page.context().close()
  }
}

let failed = 0
for (const screen of screens.filter((one) => one.name.includes(part))) {
  for (const look of looks) {
    const label = `${look.width}-${look.theme}-${look.language}`
    if (only && !only.some((one) => label.includes(one))) continue
    try {
      await take(screen, look, join(folder, `${screen.name}-${label}.png`))
    } catch (thrown) {
      failed += 1
      console.error(
        `${screen.name} ${label}: ${thrown instanceof Error ? thrown.message.split('\n')[0] : String(thrown)}`,
      )
    }
  }
}
await on.close()
if (failed > 0) {
  console.error(`${failed} pictures have a fault`)
  process.exitCode = 1
}
