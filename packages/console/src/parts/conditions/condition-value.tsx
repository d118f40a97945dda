import { MultiSelect, NumberInput, Select, TagsInput, TextInput } from '@mantine/core'
import type { Schema } from '../../api'
import { useEdition } from '../../caller'
import { loadWords, words } from '../../words'
import { dayStart, toDay } from '../days'
import type { FieldRow, Operator } from './conditions'
import { type ConditionField, isAmount, minorUnits, toDays, toHours } from './fields'

const segmentsWords = await loadWords('segments')

const t = segmentsWords.conditions

interface Props {
  label: string
  field: ConditionField
  values: readonly Schema['CelKnownValue'][] | undefined
  operator: Operator
  value: FieldRow['value']
  onChange: (value: FieldRow['value']) => void
}

/** The codes of the API as words, the rest as the API names it. */
const nameValue = ({ value, label }: { value: string; label: string }): string =>
  (t.values as Record<string, string>)[value] ?? label

/** The values that occur. One that does not occur stays in the list while it is choices. */
function listOptions(values: Props['values'], choices: readonly string[]): { value: string; label: string }[] {
  const all = values ?? []
  const others = choices.filter((one) => !all.some(({ value }) => value === one))
  return [...all, ...others.map((value) => ({ value, label: value }))].map((one) => ({
    value: one.value,
    label: nameValue(one),
  }))
}

/** The value that the field of a row is compared with. */
export function ConditionValue({ label, field, values, operator, value, onChange }: Props) {
  const zone = useEdition()?.timezone ?? 'UTC'
  if (value === null) return null
  if (Array.isArray(value)) {
    const choices = value.map(String)
    const props = { 'aria-label': label, flex: '1 1 200px', value: choices.filter((one) => one !== '') }
    if (values === undefined) return <TagsInput {...props} onChange={onChange} />
    return <MultiSelect {...props} searchable data={listOptions(values, choices)} onChange={onChange} />
  }
  if (operator === 'within' || operator === 'longerAgo')
    return (
      <NumberInput
        aria-label={label}
        w={130}
        min={0}
        suffix={` ${t.days}`}
        decimalScale={2}
        value={toDays(Number(value))}
        onChange={(days) => typeof days === 'number' && onChange(toHours(days))}
      />
    )
  if (operator === 'from' || operator === 'before')
    return (
      <TextInput
        type="date"
        aria-label={label}
        value={toDay(String(value), zone)}
        onChange={({ currentTarget: { value: day } }) => day !== '' && onChange(dayStart(day, zone))}
      />
    )
  if (typeof value === 'number') {
    const factor = isAmount(field.path) ? minorUnits : 1
    return (
      <NumberInput
        aria-label={label}
        w={150}
        decimalScale={isAmount(field.path) ? 2 : 0}
        thousandSeparator=" "
        value={value / factor}
        onChange={(next) => typeof next === 'number' && onChange(Math.round(next * factor))}
      />
    )
  }
  if (values !== undefined)
    return (
      <Select
        aria-label={label}
        flex="1 1 200px"
        searchable
        allowDeselect={false}
        nothingFoundMessage={words.common.noMatch}
        value={String(value)}
        data={listOptions(values, [String(value)])}
        onChange={(next) => next !== null && onChange(next)}
      />
    )
  return (
    <TextInput
      aria-label={label}
      flex="1 1 200px"
      value={String(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
