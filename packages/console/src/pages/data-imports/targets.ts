import type { Schema } from '../../api'
import { loadWords } from '../../words'

const t = await loadWords('dataImports')

export type Target = Schema['ImportTargetField']

/** The name of a target in the language of the person. Consents have names of their own. */
export function nameTarget(key: string, targets: readonly Target[]): string {
  const labels = t.targets as Readonly<Record<string, string>>
  const [, owner, name] = /^(order|customer)\.metadata\.(.+)$/.exec(key) ?? []
  if (owner && name) return `${owner === 'order' ? t.orderField : t.customerField}: ${name}`
  return labels[key] ?? targets.find((target) => target.key === key)?.label ?? key
}

/** The key under which the value of a column without a target is stored. */
export const buildMetadataKey = (header: string): string =>
  header
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
    .slice(0, 40)

interface Choices {
  targets: readonly Target[]
  /** The header of the column, from which the names of further fields come. */
  header: string
  /** The target of the column at the moment. */
  current: string | null
  kind: Schema['DataImport']['kind']
}

/** All targets by their group, with further fields of the order and the customer at the end. */
export function listTargetChoices({ targets, header, current, kind }: Choices) {
  const toItem = (key: string) => ({ value: key, label: nameTarget(key, targets) })
  const groups = [...Map.groupBy(targets, ({ group }) => group)].map(([group, fields]) => ({
    group: t.targetGroups[group],
    items: fields.map(({ key }) => toItem(key)),
  }))
  const name = buildMetadataKey(header) || 'field'
  const owners = kind === 'orders' ? ['order', 'customer'] : ['customer']
  const further = owners.map((owner) => `${owner}.metadata.${name}`)
  const others = current !== null && !targets.some(({ key }) => key === current) ? [current] : []
  const metadata = { group: t.furtherFields, items: [...new Set([...others, ...further])].map(toItem) }
  return [...groups, metadata]
}
