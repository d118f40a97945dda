import { ActionIcon, Button, Group as Row, Menu, SegmentedControl, Select, Stack, Text } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Schema } from '../../api'
import { loadWords, words } from '../../words'
import { ConditionValue } from './condition-value'
import type { ConsentRow, FieldRow, Group, Item, ListRow } from './conditions'
import { type ConditionField, listLists, listOperators, startValue } from './fields'

const segmentsWords = await loadWords('segments')

const t = segmentsWords.conditions

interface Props {
  group: Group
  context: Schema['CelContext']
  fields: readonly ConditionField[]
  /** The path of the list whose elements are compared, such as `orders[].`; empty for the person. */
  scope?: string
  depth?: number
  onChange: (group: Group) => void
}

const nameField = (path: string): string => (t.fields as Record<string, string>)[path] ?? path

/** Conditions as rows, joined by "and" or "or". */
export function ConditionRows({ group, onChange, depth = 0, ...shared }: Props) {
  const { items, join } = group
  const set = (next: readonly Item[]) => onChange({ ...group, items: next })
  return (
    <Stack gap="xs" className={depth > 0 ? 'conditions' : undefined}>
      {items.length > 1 && (
        <SegmentedControl
          size="xs"
          w="fit-content"
          aria-label={t.join}
          value={join}
          onChange={(next) => onChange({ ...group, join: next })}
          data={[
            { value: 'all', label: t.all },
            { value: 'any', label: t.any },
          ]}
        />
      )}
      {items.length === 0 && (
        <Text size="sm" c="dimmed">
          {depth === 0 ? t.everybody : t.anyElement}
        </Text>
      )}
      {items.map((item, index) => (
        <ItemRow
          key={index}
          {...shared}
          item={item}
          depth={depth}
          change={(next) => set(items.with(index, next))}
          remove={() => set(items.toSpliced(index, 1))}
        />
      ))}
      <AddCondition {...shared} depth={depth} add={(item) => set([...items, item])} />
    </Stack>
  )
}

type Shared = Omit<Props, 'group' | 'onChange'>

interface ItemProps extends Shared {
  item: Item
  change: (item: Item) => void
  remove: () => void
}

function ItemRow(props: ItemProps) {
  const { item, change, context, fields, scope = '', depth = 0 } = props
  switch (item.kind) {
    case 'field':
      return <FieldItem {...props} item={item} />
    case 'consent':
      return <ConsentItem {...props} item={item} />
    case 'list':
      return <ListItem {...props} item={item} />
    case 'group':
      return (
        <RowFrame remove={props.remove} label={t.group}>
          <ConditionRows
            group={item}
            context={context}
            fields={fields}
            scope={scope}
            depth={depth + 1}
            onChange={change}
          />
        </RowFrame>
      )
  }
}

interface FrameProps {
  label: string
  remove: () => void
  children: ReactNode
}

const RowFrame = ({ label, remove, children }: FrameProps) => (
  <Row gap="xs" wrap="nowrap" align="start" role="group" aria-label={label}>
    <Row gap="xs" flex={1} align="start" miw={0}>
      {children}
    </Row>
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={`${words.common.remove}: ${label}`}
      onClick={remove}
    >
      <IconTrash size={16} />
    </ActionIcon>
  </Row>
)

function FieldItem({ item, fields, context, scope = '', change, remove }: ItemProps & { item: FieldRow }) {
  const field = fields.find(({ path }) => path === scope + item.path)
  if (!field) return null
  const name = nameField(field.path)
  const values = field.valuesFrom && context.dynamic_values[field.valuesFrom]
  return (
    <RowFrame label={name} remove={remove}>
      <Text size="sm" fw={600} py={8} className="break" maw={260}>
        {name}
      </Text>
      <Select
        aria-label={`${name}: ${t.comparison}`}
        w={150}
        allowDeselect={false}
        value={item.operator}
        data={listOperators(field).map((operator) => ({ value: operator, label: t.operators[operator] }))}
        onChange={(next) => {
          const operator = listOperators(field).find((one) => one === next) ?? item.operator
          const before = startValue(item.operator, field, values)
          const after = startValue(operator, field, values)
          const fitsBoth = typeof before === typeof after && Array.isArray(before) === Array.isArray(after)
          change({ ...item, operator, value: fitsBoth && after !== null ? item.value : after })
        }}
      />
      <ConditionValue
        label={name}
        field={field}
        values={values}
        operator={item.operator}
        value={item.value}
        onChange={(value) => change({ ...item, value })}
      />
    </RowFrame>
  )
}

function ConsentItem({ item, context, change, remove }: ItemProps & { item: ConsentRow }) {
  const consents = context.dynamic_values.consents.filter(({ value }) => isKey(value))
  const options = consents.map(({ value, label }) => ({ value, label }))
  const isListed = options.some(({ value }) => value === item.key)
  return (
    <RowFrame label={t.consent} remove={remove}>
      <Select
        aria-label={t.consent}
        w={190}
        allowDeselect={false}
        value={item.isNegated ? 'no' : 'yes'}
        data={[
          { value: 'yes', label: t.hasConsent },
          { value: 'no', label: t.hasNoConsent },
        ]}
        onChange={(next) => change({ ...item, isNegated: next === 'no' })}
      />
      <Select
        aria-label={t.consent}
        flex="1 1 160px"
        allowDeselect={false}
        value={item.key}
        data={isListed ? options : [...options, { value: item.key, label: item.key }]}
        onChange={(key) => key !== null && change({ ...item, key })}
      />
    </RowFrame>
  )
}

/** Keys that an expression can name without quotes. */
const isKey = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key)

function ListItem({ item, context, fields, scope = '', depth = 0, change, remove }: ItemProps & { item: ListRow }) {
  const path = scope + item.path
  const name = (t.lists as Record<string, string>)[path] ?? path
  return (
    <RowFrame label={name} remove={remove}>
      <Stack gap="xs" flex={1}>
        <Row gap="xs">
          <Select
            aria-label={`${name}: ${t.comparison}`}
            w={130}
            allowDeselect={false}
            value={item.isNegated ? 'no' : 'yes'}
            data={[
              { value: 'yes', label: t.has },
              { value: 'no', label: t.hasNot },
            ]}
            onChange={(next) => change({ ...item, isNegated: next === 'no' })}
          />
          <Text size="sm" fw={600}>
            {name}
          </Text>
        </Row>
        <ConditionRows
          group={item.group}
          context={context}
          fields={fields}
          scope={`${path}[].`}
          depth={depth + 1}
          onChange={(group) => change({ ...item, group })}
        />
      </Stack>
    </RowFrame>
  )
}

const maxDepth = 2

interface AddProps extends Shared {
  add: (item: Item) => void
}

/** Chooses what a new condition is about. */
function AddCondition({ context, fields, scope = '', depth = 0, add }: AddProps) {
  const fieldsInScope = fields.filter(({ path }) => path.startsWith(scope) && !path.slice(scope.length).includes('[]'))
  const groups = Map.groupBy(fieldsInScope, ({ path }) => (scope === '' ? (path.split('.')[0] ?? '') : ''))
  const consent = context.dynamic_values.consents.find(({ value }) => isKey(value))
  const addField = (field: ConditionField) => {
    const operator = listOperators(field)[0] ?? 'is'
    const values = field.valuesFrom && context.dynamic_values[field.valuesFrom]
    add({ kind: 'field', path: field.path.slice(scope.length), operator, value: startValue(operator, field, values) })
  }
  return (
    <Menu position="bottom-start" shadow="md" width={300}>
      <Menu.Target>
        <Button variant="default" size="xs" w="fit-content" leftSection={<IconPlus size={14} aria-hidden />}>
          {t.add}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} className="scroll">
        {scope === '' && (
          <>
            <Menu.Label>{t.groups.has}</Menu.Label>
            {consent && (
              <Menu.Item onClick={() => add({ kind: 'consent', key: consent.value, isNegated: false })}>
                {t.consent}
              </Menu.Item>
            )}
          </>
        )}
        {depth < maxDepth &&
          listLists(context, scope).map((path) => (
            <Menu.Item
              key={path}
              onClick={() =>
                add({
                  kind: 'list',
                  path: path.slice(scope.length),
                  isNegated: false,
                  group: { kind: 'group', join: 'all', items: [] },
                })
              }
            >
              {(t.lists as Record<string, string>)[path] ?? path}
            </Menu.Item>
          ))}
        {[...groups].map(([key, list]) => (
          <div key={key} role="group" aria-label={key}>
            {scope === '' && <Menu.Label>{(t.groups as Record<string, string>)[key] ?? key}</Menu.Label>}
            {list.map((field) => (
              <Menu.Item key={field.path} onClick={() => addField(field)}>
                {nameField(field.path)}
              </Menu.Item>
            ))}
          </div>
        ))}
        {scope === '' && depth < maxDepth && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => add({ kind: 'group', join: 'any', items: [] })}>{t.group}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
