import type { Schema } from '../../api'
import type { Item, Operator } from './conditions'

type Context = Schema['CelContext']

/** A field of a person or of a list's elements, with what a row can compare it with. */
export interface ConditionField {
  /** The path in the context, such as `orders[].status`. */
  path: string
  type: 'string' | 'int' | 'bool' | 'timestamp' | 'list<string>'
  isNullable: boolean
  valuesFrom: keyof Context['dynamic_values'] | undefined
}

const types = ['string', 'int', 'bool', 'timestamp', 'list<string>']

/** The fields that rows can compare. Metadata and consents have other forms. */
export const listFields = ({ variables }: Context): ConditionField[] =>
  variables.flatMap(({ fields }) =>
    fields
      .filter(({ path, type }) => types.includes(type) && !path.startsWith('consents.') && !path.startsWith('edition.'))
      .map(({ path, type, nullable, values_from }) => ({
        path,
        type: type as ConditionField['type'],
        isNullable: nullable,
        valuesFrom: values_from,
      })),
  )

/** The lists whose elements rows can look at, in the scope of another list or of the person. */
export const listLists = ({ variables }: Context, scope: string): string[] => {
  const paths = variables.flatMap(({ name, type, fields }) => [
    ...(type.startsWith('list<') ? [name] : []),
    ...fields
      .filter((field) => field.type.startsWith('list<') && field.type !== 'list<string>')
      .map(({ path }) => path),
  ])
  return paths.filter((path) => path.startsWith(scope) && !path.slice(scope.length).includes('[]'))
}

const nullOperators: readonly Operator[] = ['isSet', 'isEmpty']

export function listOperators({ type, isNullable, valuesFrom }: ConditionField): readonly Operator[] {
  const forNull = isNullable ? nullOperators : []
  switch (type) {
    case 'string':
      return valuesFrom === undefined
        ? ['is', 'isNot', 'contains', 'startsWith', 'endsWith', 'oneOf', 'notOneOf', ...forNull]
        : ['is', 'isNot', 'oneOf', 'notOneOf', ...forNull]
    case 'int':
      return ['atLeast', 'atMost', 'is', 'isNot', 'moreThan', 'lessThan', ...forNull]
    case 'bool':
      return ['isTrue', 'isFalse']
    case 'timestamp':
      return ['within', 'longerAgo', 'from', 'before', ...forNull]
    case 'list<string>':
      return ['includes', 'excludes']
  }
}

/** True if each row uses a field with an operator that the form has for it. */
export function fits(item: Item, fields: readonly ConditionField[], scope = ''): boolean {
  if (item.kind === 'group') return item.items.every((one) => fits(one, fields, scope))
  if (item.kind === 'list') return fits(item.group, fields, `${scope}${item.path}[].`)
  if (item.kind === 'consent') return scope === ''
  const field = fields.find(({ path }) => path === scope + item.path)
  if (field === undefined || !listOperators(field).includes(item.operator)) return false
  const values = [item.value].flat()
  const needsNumber = field.type === 'int' || item.operator === 'within' || item.operator === 'longerAgo'
  return values.every((value) => value === null || typeof value === (needsNumber ? 'number' : 'string'))
}

/** True for fields in minor units, such as cents. All currencies of the service have a hundred. */
export const isAmount = (path: string): boolean => path.endsWith('_minor')
export const minorUnits = 100

const dayHours = 24
export const toDays = (hours: number): number => Math.round((hours / dayHours) * 100) / 100
export const toHours = (days: number): number => Math.round(days * dayHours)

/** The value with which a row of this operator begins. */
export function startValue(
  operator: Operator,
  { path, type }: ConditionField,
  values: readonly { value: string }[] | undefined,
): string | number | string[] | null {
  if (['isSet', 'isEmpty', 'isTrue', 'isFalse'].includes(operator)) return null
  if (operator === 'oneOf' || operator === 'notOneOf') return values?.[0] ? [values[0].value] : ['']
  if (operator === 'within' || operator === 'longerAgo') return toHours(30)
  if (operator === 'from' || operator === 'before') return `${new Date().toISOString().slice(0, 10)}T00:00:00Z`
  if (type === 'int') return isAmount(path) ? minorUnits : 1
  return values?.[0]?.value ?? ''
}
