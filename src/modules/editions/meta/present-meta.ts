import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import {
  countryCodes,
  countryLabels,
  pickDefaultCurrency,
  smsSenderDescriptions,
  smsSenderNames,
  taxTypeDescriptions,
  taxTypeLabels,
  taxTypes,
} from '../../../domain/editions/editions.ts'
import { toBcp47, languageLabels, languages } from '../../../domain/languages.ts'
import { currencies, currencyLabels } from '../../../domain/money.ts'
import { hourMs } from '../../../domain/time/instants.ts'
import { type TimeZoneChoice, listTimeZoneChoices } from '../../../domain/time/time-zones.ts'
import type { EditionMeta } from '../contract-resources.ts'
import type { EditionChoices } from './meta.ts'

let cachedZones: { hour: number; choices: TimeZoneChoice[] } | undefined

/** The offsets are cached for an hour, because computing them takes 50 ms. */
function getZones(now: number): TimeZoneChoice[] {
  const hour = Math.floor(now / hourMs)
  if (cachedZones?.hour !== hour) cachedZones = { hour, choices: listTimeZoneChoices(now) }
  return cachedZones.choices
}

const choice = (value: string, label: string, description: string) => ({ value, label, description })

export const presentEditionMeta = (choices: EditionChoices, ctx: Ctx): z.input<typeof EditionMeta> => ({
  timezones: getZones(ctx.now()),
  languages: languages.map((code) => choice(code, languageLabels[code], `Language tag ${toBcp47(code)}`)),
  country_codes: countryCodes.map((code) =>
    choice(code, `${countryLabels[code]} (${code})`, `Starts with the currency ${pickDefaultCurrency(code)}`),
  ),
  currencies: currencies.map((code) => choice(code, currencyLabels[code], code.toUpperCase())),
  tax_types: taxTypes.map((type) => choice(type, taxTypeLabels[type], taxTypeDescriptions[type])),
  sms_sender_names: smsSenderNames.map((name) => choice(name, name, smsSenderDescriptions[name])),
  ...choices,
})
