// Measures the real window: how long a start takes, from the new process to the first screen drawn, and how much memory
// it holds at rest with one repository. Prints numbers; it judges none. Usage: MAGIS_APP=<program>
// MAGIS_MODELS_DIR=<folder> npx tsx tests/measure_window.ts
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Desk, given, memory } from './desktop/desk'

const ROUNDS = 9
/** Until what a start left behind is given back. */
const AT_REST = 20_000

const folder = mkdtempSync(join(tmpdir(), 'magis-measure-'))
const begun = join(folder, 'begun')
const program = join(folder, 'magis-app')
writeFileSync(program, `#!/bin/sh\ndate +%s%3N > '${begun}'\nexec '${given('MAGIS_APP')}' "$@"\n`)
chmodSync(program, 0o755)
process.env['MAGIS_APP'] = program

const desk = new Desk()
try {
  await desk.open()
  const first = await desk.start(join(folder, 'data'))
  await first.usable()
  await first.ask('add_sample', {})
  await first.close()

  const times: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const window = await desk.start(join(folder, 'data'))
    times.push((await window.usable()) - Number(readFileSync(begun, 'utf8')))
    await window.close()
  }
  const sorted = times.map(Math.round).sort((a, b) => a - b)
  console.log(`start to the first screen: median ${sorted[ROUNDS >> 1]} ms, of ${sorted.join(', ')}`)

  // What drives a window takes memory too, so this one is started as a person starts it.
  const end = desk.alone(join(folder, 'data'))
  await wait(AT_REST)
  const held = memory(join(folder, 'data'))
  end()
  for (const [name, bytes] of held) console.log(`${name}: ${Math.round(bytes / 1e6)} MB`)
  console.log(`memory at rest (PSS): ${Math.round([...held.values()].reduce((sum, one) => sum + one, 0) / 1e6)} MB`)
} finally {
  await desk.close()
  rmSync(folder, { recursive: true, force: true })
}
