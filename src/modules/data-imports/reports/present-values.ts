import { findTargetField } from '../../../domain/data-imports/mapping/index.ts'
import { toMajor } from '../../../domain/money.ts'
import { toIso } from '../../../domain/time/instants.ts'

/** Presents the values of a row of a file as the API does everywhere: amounts in major units, times as ISO 8601. */
export const presentValues = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).map(([target, value]) => {
      if (typeof value !== 'number') return [target, value]
      const type = findTargetField(target)?.type
      if (type === 'money') return [target, toMajor(value)]
      return [target, type === 'instant' ? toIso(value) : value]
    }),
  )
