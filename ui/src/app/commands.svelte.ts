// Owns the list of what can be done now: every command with its words and keys, from the frame and from the screen
// shown. The palette, the key map and the help sheet all read this one list. It runs nothing by itself.
import { onDestroy, untrack } from 'svelte'

export type Command = {
  id: string
  /** What the palette shows: a short sentence in the language in force. */
  title: string
  /** Under which head it stands in palette and help. */
  group: string
  /** Such as 'j', 'Enter', 'Ctrl+K', 'Shift+?'; Ctrl means Cmd on a Mac. */
  keys?: string[]
  /** False hides it from the palette and makes its keys do nothing. */
  enabled?: boolean
  /** Works also while text is being written. */
  whileWriting?: boolean
  run: () => void
}

type Source = () => Command[]

class Commands {
  // A plain array beside a count: state that is read while a component goes is the state before the change, and what
  // the next screen has added meanwhile would be lost with it.
  private readonly sources: Source[] = []
  private changes = $state(0)

  /** All commands, those of the innermost part first. */
  get all(): Command[] {
    void this.changes
    return [...this.sources].reverse().flatMap((source) => source())
  }

  add(source: Source): () => void {
    this.sources.push(source)
    untrack(() => (this.changes += 1))
    return () => {
      this.sources.splice(this.sources.indexOf(source), 1)
      untrack(() => (this.changes += 1))
    }
  }

  /** The command a key press means now, if any. */
  find(event: KeyboardEvent): Command | null {
    const pressed = chord(event)
    const writing = isWriting(event.target)
    return (
      this.all.find(
        (command) =>
          command.enabled !== false &&
          (command.keys ?? []).includes(pressed) &&
          (!writing || command.whileWriting === true || /^(Ctrl|Alt)\+/.test(pressed)),
      ) ?? null
    )
  }
}

export const commands = new Commands()

/**
 * Offers commands as long as the component that calls this is shown. The function is asked each time, so it may read
 * state.
 */
export function offer(source: Source): void {
  const take = commands.add(source)
  onDestroy(take)
}

/** A key press as text: modifiers in the order Ctrl, Alt, Shift, then the key. */
export function chord(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key : event.key
  const parts: string[] = []
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl')
  if (event.altKey) parts.push('Alt')
  // A shifted sign such as ? is a key of its own; Shift is named only for letters with a modifier and for named keys.
  if (event.shiftKey && (key.length > 1 || parts.length > 0)) parts.push('Shift')
  parts.push(key.length === 1 && parts.length > 0 ? key.toUpperCase() : key)
  return parts.join('+')
}

export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable) return true
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'button'].includes(target.type)
}
