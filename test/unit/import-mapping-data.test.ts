import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dateOrders } from '../../src/domain/data-imports/mapping/columns/date-shape.ts'
import dateWords from '../../src/domain/data-imports/mapping/columns/date-words.json' with { type: 'json' }
import { groupings } from '../../src/domain/data-imports/mapping/index.ts'
import presets from '../../src/domain/data-imports/mapping/presets/presets.json' with { type: 'json' }
import aliases from '../../src/domain/data-imports/mapping/targets/aliases.json' with { type: 'json' }
import { findTargetField } from '../../src/domain/data-imports/mapping/targets/fields.ts'
import words from '../../src/domain/data-imports/mapping/values/words.json' with { type: 'json' }
import { languages } from '../../src/domain/languages.ts'
import { currencies } from '../../src/domain/money.ts'
import { itemStatuses } from '../../src/domain/orders/external-orders.ts'
import { orderStatuses } from '../../src/domain/orders/orders.ts'
import { fold } from '../../src/domain/text/fold.ts'

const Text = z.string().refine((text) => text !== '' && text === text.trim(), 'A text without spaces around it.')
const Lower = Text.refine((text) => text === text.toLowerCase(), 'A text in small letters.')
const Folded = Text.refine((text) => text === fold(text), 'A folded text.')
const Target = z.string().refine((key) => findTargetField(key) !== null, 'A target.')
const Names = z.array(Text).min(1)
const Words = z.array(Lower).min(1)
const LocalizedWords = z.partialRecord(
  z.enum(['en', 'da', 'de', 'sv', 'nl', 'pl', 'fr', 'es', 'it', 'pt', 'any']),
  Words,
)

const Meaning = z.union([
  z.strictObject({ to: z.enum([...orderStatuses, ...itemStatuses]) }),
  z.strictObject({ ignore_row: z.literal(true) }),
])
const PresetTarget = z
  .strictObject({
    columns: z.array(Names),
    constant: Text.optional(),
    default_value: Text.optional(),
    value_map: z.record(Text, Meaning).optional(),
    transform: z
      .strictObject({ type: z.literal('date'), order: z.enum(dateOrders).optional(), time_zone: Text.optional() })
      .optional(),
  })
  .refine(({ columns, constant }) => columns.length > 0 !== (constant !== undefined), 'Columns or a constant.')
const Preset = z.strictObject({
  source: z.string().regex(/^[a-z_]+$/),
  label: Text,
  about: Text,
  signature: z.array(Names).min(4),
  group_by: z.enum(groupings).nullable(),
  possible_ids: Names.optional(),
  targets: z.record(Target, PresetTarget),
  left_out: Names.optional(),
})

const NamedMeaning = z.strictObject({
  target: Target,
  rank: z.enum(['specific', 'usual', 'plain', 'indirect', 'vague']),
  names: LocalizedWords,
  part: z.literal('time').optional(),
  values: z.enum(['people', 'paid', 'codes', 'numbers']).optional(),
})

const Aliases = z.strictObject({
  targets: z.array(NamedMeaning),
  phrases: z.array(z.strictObject({ words: LocalizedWords, targets: z.array(NamedMeaning) })),
  people: z.strictObject({
    fields: z.record(z.enum(['email', 'phone_number', 'first_name', 'last_name', 'full_name']), LocalizedWords),
    buyers: LocalizedWords,
    holders: LocalizedWords,
    billing: LocalizedWords,
    bare_names: Words,
    buyers_alone: Words,
    holders_alone: Words,
  }),
  marketing: Words,
  other: Words,
  added_words: Words,
  fillers: Words,
  elsewhere: Words,
})

const ValueWords = z.strictObject({
  yes: Words,
  no: Words,
  free: Words,
  statuses: z.record(z.enum([...orderStatuses, 'refunded']), Words),
  currencies: z.record(Lower, z.enum([...currencies, 'kr', ...words.other_currencies])),
  other_currencies: z.array(z.string().regex(/^[a-z]{3}$/)),
  languages: z.record(z.enum(languages), Words),
})

const DateWords = z.strictObject({
  months: z.array(z.array(Folded).min(1)).length(12),
  weekdays: z.array(Folded),
  zones: z.record(Folded, z.int().min(-12).max(14)),
})

describe('the data behind suggestions', () => {
  it.each([
    ['presets', z.array(Preset), presets],
    ['aliases of targets', Aliases, aliases],
    ['words for values', ValueWords, words],
    ['words of dates', DateWords, dateWords],
  ])('has the shape that the code expects: %s', (_, schema, data) => {
    const { error } = schema.safeParse(data)
    expect(error?.issues ?? []).toEqual([])
  })

  it('has no word that means both yes and no, and no name of two months', () => {
    const months = dateWords.months.flat()
    expect(words.yes.filter((word) => words.no.includes(word))).toEqual([])
    expect(months.filter((name, index) => months.indexOf(name) !== index)).toEqual([])
  })
})
