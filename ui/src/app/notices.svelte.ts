// Owns the messages at the window's lower edge.
import { problemOf, type Problem } from '../ipc'

/** `sticky` stays until the next action of the person. */
export type Toast = {
  id: number
  text: string
  problem: Problem | null
  action: { label: string; run: () => void } | null
  sticky: boolean
}

export class Notices {
  toasts = $state<Toast[]>([])
  private next = 1

  /** Says something; returns the toast's id, so that it can be taken back. */
  say(
    text: string,
    { action = null, sticky = false, problem = null }: Partial<Omit<Toast, 'id' | 'text'>> = {},
  ): number {
    const id = this.next++
    this.toasts.push({ id, text, problem, action, sticky })
    return id
  }

  /** Says what went wrong. */
  fail(thrown: unknown): void {
    const problem = problemOf(thrown)
    this.say(problem.message, { problem, sticky: true })
  }

  unsay(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id)
  }

  /** The person went on: what stayed for an undo goes. */
  letGo(): void {
    this.toasts = this.toasts.filter((toast) => toast.problem !== null)
  }
}
