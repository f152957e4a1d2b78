// Owns what was last looked up on the hub: it stays while other screens are shown. Nothing is asked without a person's
// click.
import { tick } from 'svelte'
import { ipc, problemOf, type HubListingView, type ModelSuggestion, type Problem } from '../../ipc'

class HubSearch {
  text = $state('')
  busy = $state(false)
  listing = $state.raw<HubListingView | null>(null)
  problem = $state.raw<Problem | null>(null)
  field = $state<HTMLInputElement | null>(null)
  suggestions = $state.raw<readonly ModelSuggestion[]>([])

  /** Reads what comes with the program; nobody is asked. */
  async open(): Promise<void> {
    this.suggestions = await ipc.modelSuggestions()
  }

  /** The focus goes to the field, also from the palette, once that is closed. */
  async focus(): Promise<void> {
    await tick()
    this.field?.focus()
  }

  async look(): Promise<void> {
    const name = this.text.trim()
    if (name === '' || this.busy) return
    this.busy = true
    this.listing = null
    this.problem = null
    try {
      this.listing = await ipc.hubModels(name)
    } catch (thrown) {
      this.problem = problemOf(thrown)
    } finally {
      this.busy = false
    }
  }
}

export const hub = new HubSearch()
