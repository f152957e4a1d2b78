// Owns the Chinese sentences of the feature settings. Its keys are those of the English file.
import type { settings as english } from '../en/settings'

export const settings: Record<keyof typeof english, string> = {
  'settings.title': '设置',
}
