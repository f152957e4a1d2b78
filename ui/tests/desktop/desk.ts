// Owns the real window under test: a display of its own, a window manager, WebKit's driver, and the built program on a
// data folder of its own. It asserts nothing. Everything listens on loopback and ends with the desk.
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { readFileSync, readdirSync } from 'node:fs'
import { Builder, By, Key, error, type WebDriver, type WebElement } from 'selenium-webdriver'

/** What takes longer than this does not come, also on a machine that does other things as well. */
const PATIENCE = 240_000

/** What the tests are given by whoever starts them. */
export function given(name: 'MAGIS_APP' | 'MAGIS_MODELS_DIR'): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} has to be set`)
  return value
}

export class Desk {
  private address = ''
  private display = ''
  private readonly started: ChildProcess[] = []
  private readonly windows: Window[] = []

  async open(): Promise<void> {
    const screen = this.begun(
      spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1920x1080x24', '-nolisten', 'tcp'], {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      }),
    )
    this.display = `:${await firstLine(screen.stdio[3] as NodeJS.ReadableStream)}`
    // Without a window manager a native click ends WebKit's automation connection.
    this.begun(spawn('openbox', [], { env: { ...process.env, DISPLAY: this.display }, stdio: 'ignore' }))
    const port = await freePort()
    this.begun(
      spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], {
        env: {
          ...process.env,
          DISPLAY: this.display,
          TAURI_WEBVIEW_AUTOMATION: 'true',
          TAURI_AUTOMATION: 'true',
          WEBKIT_DISABLE_DMABUF_RENDERER: '1',
          LANG: 'C.UTF-8',
          LANGUAGE: 'en',
        },
        stdio: 'ignore',
      }),
    )
    this.address = `http://127.0.0.1:${port}`
    await answers(this.address)
  }

  /** The program on this data folder, with its window open and its first screen there. */
  async start(data: string): Promise<Window> {
    const binary = given('MAGIS_APP')
    const driver = await new Builder()
      .usingServer(this.address)
      .withCapabilities({
        browserName: 'wry',
        'webkitgtk:browserOptions': { binary, args: ['--data-dir', data, '--models-dir', given('MAGIS_MODELS_DIR')] },
      })
      .build()
    const window = new Window(driver, data)
    this.windows.push(window)
    // Before that it stands without keys, while what it shows is read.
    await window.see("//main[@id='work']")
    return window
  }

  /**
   * The program on this data folder as a person starts it, with nothing that drives it; ends it with the function it
   * gives.
   */
  alone(data: string): () => void {
    const program = spawn(given('MAGIS_APP'), ['--data-dir', data, '--models-dir', given('MAGIS_MODELS_DIR')], {
      env: { ...process.env, DISPLAY: this.display, LANG: 'C.UTF-8', LANGUAGE: 'en' },
      stdio: 'ignore',
    })
    this.begun(program)
    return () => program.kill()
  }

  /** Ends whatever was started, however far that went. */
  async close(): Promise<void> {
    for (const window of this.windows) {
      await window.close().catch(() => undefined)
      window.kill()
    }
    for (const process of this.started.reverse()) {
      if (process.exitCode !== null || process.signalCode !== null) continue
      process.kill()
      await new Promise((ended) => process.once('exit', ended))
    }
  }

  private begun(process: ChildProcess): ChildProcess {
    this.started.push(process)
    return process
  }
}

export class Window {
  constructor(
    private readonly driver: WebDriver,
    private readonly data: string,
  ) {}

  /** The element of an XPath, once it is shown. What is drawn anew meanwhile is looked for again. */
  async see(path: string, patience = PATIENCE): Promise<WebElement> {
    const shown = async (): Promise<WebElement | false> => {
      try {
        const element = await this.driver.findElement(By.xpath(path))
        return (await element.isDisplayed()) && element
      } catch (thrown) {
        if (thrown instanceof error.NoSuchElementError || thrown instanceof error.StaleElementReferenceError)
          return false
        throw thrown
      }
    }
    const seen = await this.driver.wait(shown, patience, `nothing shows ${path}`)
    if (seen === false) throw new Error(`nothing shows ${path}`)
    return seen
  }

  /** Waits until a button of this name can be used, and clicks it as a person does. */
  async click(name: string, patience = PATIENCE): Promise<void> {
    // A button may show its key behind its name.
    const path = `//button[not(@disabled) and (starts-with(normalize-space(.), ${quoted(name)}) or @aria-label=${quoted(name)})]`
    await this.driver.wait(
      async () => {
        try {
          await (await this.driver.findElement(By.xpath(path))).click()
          return true
        } catch {
          return false
        }
      },
      patience,
      `no button '${name}' can be clicked`,
    )
  }

  /** Opens the choice that shows this text, and takes one of its options. */
  async choose(shown: string, option: string): Promise<void> {
    await this.click(shown)
    await (await this.see(`//*[@role='option'][contains(normalize-space(.), ${quoted(option)})]`)).click()
  }

  /** Types into the field of this label. */
  async fill(label: string, text: string): Promise<void> {
    const field = await this.see(
      `//*[(self::input or self::textarea) and (@aria-label=${quoted(label)} or @id=//label[normalize-space(.)=${quoted(label)}]/@for)]`,
    )
    await field.clear()
    await field.sendKeys(text)
  }

  /** Presses a key, with Control held where it says so, wherever the focus is. */
  async press(key: string): Promise<void> {
    const [last, ...held] = key.split('+').reverse()
    const named: Record<string, string> = { Control: Key.CONTROL, ArrowDown: Key.ARROW_DOWN, Enter: Key.ENTER }
    const actions = this.driver.actions()
    for (const one of held) actions.keyDown(named[one] ?? one)
    actions.sendKeys(named[last ?? ''] ?? last ?? '')
    for (const one of held) actions.keyUp(named[one] ?? one)
    await actions.perform()
  }

  /** Waits until this text stands somewhere in the window. */
  async reads(text: string, patience = PATIENCE): Promise<void> {
    await this.see(`//*[contains(normalize-space(.), ${quoted(text)})]`, patience)
  }

  /** Asks Rust as the front end does; for what a native dialog would ask a person. */
  async ask<T>(command: string, parameters: Record<string, unknown>): Promise<T> {
    return this.driver.executeAsyncScript<T>(
      `const [command, parameters, done] = arguments
       window.__TAURI_INTERNALS__.invoke(command, parameters).then(done, (problem) => done({ refused: problem }))`,
      command,
      parameters,
    )
  }

  /** When the first screen was drawn, in milliseconds since 1970. */
  async usable(): Promise<number> {
    const drawn = (): Promise<number | null> =>
      this.driver.executeScript(
        "const [mark] = performance.getEntriesByName('usable'); return mark ? performance.timeOrigin + mark.startTime : null",
      )
    return Number(await this.driver.wait(drawn, PATIENCE, 'the first screen is never drawn'))
  }

  title(): Promise<string> {
    return this.driver.getTitle()
  }

  async close(): Promise<void> {
    await this.driver.quit()
  }

  /** `kill -9` of the program, and of nothing else: its worker has to end by itself. */
  kill(): void {
    for (const pid of programs(this.data)) process.kill(pid, 'SIGKILL')
  }
}

/**
 * Memory that each process of the window on this data folder has to itself, with its share of what several have: PSS in
 * bytes, by program.
 */
export function memory(data: string): Map<string, number> {
  const parents = new Map(processes().map((pid) => [pid, parent(pid)]))
  const its = new Set(programs(data))
  for (let grown = -1; grown !== its.size;) {
    grown = its.size
    for (const [pid, above] of parents) if (its.has(above)) its.add(pid)
  }
  return new Map([...its].map((pid) => [`${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} ${pid}`, share(pid)]))
}

/** Processes that have this data folder in their command line. */
function programs(data: string): number[] {
  const mine = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(data)
    } catch {
      return false
    }
  }
  return processes().filter((pid) => mine(String(pid)))
}

function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** The parent of a process; 0 where it has just ended. */
function parent(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function share(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024
}

function quoted(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((found, failed) => {
    let text = ''
    stream.on('data', (part: Buffer) => {
      text += part.toString()
      if (text.includes('\n')) found(text.trim())
    })
    stream.on('end', () => failed(new Error('Xvfb ended without a display')))
  })
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const at = server.address()
      server.close(() => found(typeof at === 'object' && at ? at.port : 0))
    })
  })
}

/** Waits until the driver says that it is ready. */
async function answers(address: string): Promise<void> {
  const until = Date.now() + PATIENCE
  for (;;) {
    try {
      if ((await fetch(`${address}/status`)).ok) return
    } catch {
      // It does not listen yet.
    }
    if (Date.now() > until) throw new Error('WebKitWebDriver does not answer')
    await new Promise((again) => setTimeout(again, 50))
  }
}
