// Owns the short sentences about a model that several places show: what it is good for, whether it fits, and how fast
// it is here.
import { bytes, number } from '../../i18n/format'
import { language, t } from '../../i18n/index.svelte'
import { zh_hans } from '../../i18n/zh_hans/catalog'
import type { HubFit, ModelFit, ModelRow } from '../../ipc'

export function fitText(fit: ModelFit): string {
  switch (fit.kind) {
    case 'fits':
      return t('models.fits', { context: number(fit.context) })
    case 'smaller':
      return t('models.fits.smaller', { context: number(fit.context) })
    case 'no':
      return t('models.fits.no', { need: bytes(fit.need), available: bytes(fit.available) })
  }
}

/** What the size of a file of the hub says about whether it fits. */
export function hubFitText(fit: HubFit): string {
  switch (fit.kind) {
    case 'room':
      return t('models.hub.fits', { left: bytes(fit.left) })
    case 'tight':
      return t('models.hub.fits.tight', { left: bytes(fit.left) })
    case 'no':
      return t('models.hub.fits.no', { available: bytes(fit.available) })
  }
}

/** What a model is good for and who measured what of it, in the language in force where it has a sentence. */
export function goodFor(model: Pick<ModelRow, 'id' | 'good_for' | 'rated'>): string {
  // A person's own file may have any name, such as that of a property that every object has.
  return (
    (language() === 'zh_hans' && Object.hasOwn(zh_hans, model.id) ? zh_hans[model.id] : undefined) ??
    `${model.good_for} ${model.rated}`.trim()
  )
}

export function speedText(model: ModelRow): string {
  const measured = model.measured
  if (measured === null) return t('models.speed.unknown')
  return t('models.speed', {
    read: number(measured.read_tokens_per_second),
    write: number(measured.write_tokens_per_second, 1),
  })
}

/** What a model could do when it was tried here. */
export function abilitiesText(abilities: ModelRow['abilities']): string {
  if (abilities === null) return t('models.abilities.unknown')
  const share = ([right, asked]: [number, number]) => `${number(right)}/${number(asked)}`
  const { form, naming, tools } = abilities
  return t(tools === null ? 'models.abilities.no_tools' : 'models.abilities', {
    form: share(form),
    naming: share(naming),
    tools: tools === null ? '' : share(tools),
  })
}

/** Host of an address, for saying where something is fetched from; the whole text where it is no address. */
export function hostOf(from: string): string {
  try {
    return new URL(from).host
  } catch {
    return from
  }
}
