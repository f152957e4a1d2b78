// Owns a repository of the hub for the tests: a model of each kind that the list has to show; and suggestions.
import type * as T from '../../src/ipc/types'

const GB = 1_000_000_000
const file = (name: string, bytes: number, more: Partial<T.HubModelRow> = {}): T.HubModelRow => ({
  id: `hf:unsloth/Qwen3-Coder-Next-GGUF:${name}`,
  path: name,
  bytes,
  parts: 1,
  sha256: ['9f2c61a0d7b84e0b8e55c1f3c7a94d2e6b1f0a3c5d7e9f1b2c4d6e8f0a1b3c5d'],
  fits: { kind: 'room', left: 21_800_000_000 - bytes },
  here_bytes: 0,
  obstacle: null,
  ...more,
})

export const hubListing: T.HubListingView = {
  repo: 'unsloth/Qwen3-Coder-Next-GGUF',
  revision: '5e1c2b7a94d06f3381c7aa0b1d2e3f4a5b6c7d8e',
  licence: 'apache-2.0',
  has_terms: false,
  models: [
    file('Qwen3-Coder-Next-UD-IQ1_S.gguf', 8.3 * GB),
    file('Qwen3-Coder-Next-UD-Q2_K_XL.gguf', 20.4 * GB, { fits: { kind: 'tight', left: 1.4 * GB } }),
    file('Q4_K_M/Qwen3-Coder-Next-Q4_K_M-00001-of-00002.gguf', 48.5 * GB, {
      parts: 2,
      sha256: ['a', 'b'],
      fits: { kind: 'no', available: 21_800_000_000 },
    }),
    file('Qwen3-Coder-Next-TQ1_0.gguf', 6.1 * GB, { sha256: [], obstacle: 'no_hash' }),
  ],
}

export const suggestions: T.ModelSuggestion[] = [
  {
    id: 'hf:unsloth/Devstral-Small-2-24B-Instruct-2512-GGUF',
    name: 'Devstral Small 2 24B',
    memory_gb: 24,
    good_for: 'Made for agents that work on code; all weights are at work for a token.',
    rated: 'SWE-bench Verified 68.0 by its maker.',
  },
  {
    id: 'hf:unsloth/Qwen3-Coder-Next-GGUF',
    name: 'Qwen3-Coder-Next 80B-A3B',
    memory_gb: 64,
    good_for:
      'The coder for 64 GB, also without a graphics card: few weights are at work for a token, and it does not think at length.',
    rated: 'SWE-bench Verified 70.6 by its maker.',
  },
]
