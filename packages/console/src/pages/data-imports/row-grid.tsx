import { ActionIcon, Group, Popover, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { type Column, RecordList } from '../../parts/record-list'
import { formatCount, loadWords, plural } from '../../words'
import { ReplaceButton } from './replace-button'
import { nameTarget } from './targets'
import type { DataImport } from './use-import'

const t = await loadWords('dataImports')
const pageSize = 50

export type Row = Schema['ImportedRow']
type RowProblem = Schema['ImportRowProblem']

interface Props {
  row: DataImport
  search: { page?: number; cursor?: string; outcome?: Row['outcome']; has_errors?: boolean }
  /** True while the values of the file can still be replaced. */
  canReplace?: boolean
}

/** The rows of the file as a grid, with each problem in its cell. */
export function RowGrid({ row, search, canReplace = false }: Props) {
  const { page, cursor, outcome, has_errors } = search
  const query = { page_size: pageSize, page, cursor, outcome: outcome ?? undefined, has_errors }
  const list = useQuery(getList('/v1/data-imports/{id}/rows', { params: { path: { id: row.id }, query } }))
  const keys = list.data ? listKeys(list.data.results) : []
  // The columns differ from file to file, and the choice of columns belongs to them.
  const name = `import-rows.${keys.join()}`
  return (
    <RecordList
      key={name}
      name={name}
      label={`${t.rowsTitle}: ${row.name}`}
      list={list}
      search={{ outcome, has_errors, page } as { page?: number }}
      columns={listColumns(row, keys, canReplace)}
      rowKey={({ id }) => id}
      pageSize={pageSize}
      countLabel={(count) => plural(count, t.rowCount)}
      empty={{ title: t.noRows }}
    />
  )
}

/** The targets of the rows on the page, those with problems first. */
function listKeys(rows: readonly Row[]): string[] {
  const problems = rows.flatMap(({ errors, warnings }) => [...errors, ...warnings])
  const problemKeys = problems.flatMap(({ target_field: key }) => (key === null ? [] : [key]))
  return [...new Set([...problemKeys, ...rows.flatMap(({ values }) => Object.keys(values))])]
}

const listColumns = (row: DataImport, keys: readonly string[], canReplace: boolean): Column<Row>[] => [
  {
    key: 'line',
    label: t.line,
    cell: ({ place, row: line }) => place ?? formatCount(line),
  },
  ...(row.started_at === null
    ? []
    : [{ key: 'outcome', label: t.outcome, cell: (one: Row) => <Outcome row={row} one={one} /> }]),
  {
    key: 'problems',
    label: t.problems,
    cell: (one) => <OtherProblems one={one} keys={keys} />,
  },
  ...keys.map((key) => ({
    key,
    label: nameTarget(key, []),
    cell: (one: Row) => <Cell one={one} target={key} row={row} canReplace={canReplace} />,
  })),
]

function Outcome({
  row,
  one: { outcome, order_id, user_id, undo_outcome, undo_reason },
}: {
  row: DataImport
  one: Row
}) {
  const label = outcome === null ? t.open : t.outcomes[outcome]
  const edition = row.edition.id
  return (
    <Stack gap={0}>
      {order_id !== null && undo_outcome !== 'undone' ? (
        <Link className="link" to="/editions/$edition/orders/$order" params={{ edition, order: order_id }}>
          {label}
        </Link>
      ) : user_id !== null && undo_outcome !== 'undone' ? (
        <Link className="link" to="/editions/$edition/customers/$customer" params={{ edition, customer: user_id }}>
          {label}
        </Link>
      ) : (
        label
      )}
      {undo_outcome !== null && (
        <Text size="xs" c="dimmed">
          {t.undoOutcomes[undo_outcome]}
          {undo_reason !== null && `: ${t.undoReasons[undo_reason]}`}
        </Text>
      )}
    </Stack>
  )
}

const writeValue = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

interface CellProps {
  one: Row
  target: string
  row: DataImport
  canReplace: boolean
}

function Cell({ one, target, row, canReplace }: CellProps) {
  const error = one.errors.find(({ target_field }) => target_field === target)
  const warning = one.warnings.find(({ target_field }) => target_field === target)
  const problem = error ?? warning
  const value = writeValue(problem?.value ?? one.values[target])
  if (!problem) return <span className="break">{value}</span>
  return (
    <Group gap={4} wrap="nowrap" className={error ? 'wrong-cell' : undefined}>
      <span className="break">{value || '—'}</span>
      <ProblemMark problem={problem} isError={error !== undefined}>
        {canReplace && error?.value != null && error.column !== null && <ReplaceButton row={row} problem={error} />}
      </ProblemMark>
    </Group>
  )
}

interface MarkProps {
  problem: RowProblem
  isError: boolean
  children?: React.ReactNode
}

/** Opens what is wrong with a cell, and what can be done. */
const ProblemMark = ({ problem: { message }, isError, children }: MarkProps) => (
  <Popover shadow="md" width={300} trapFocus>
    <Popover.Target>
      <ActionIcon
        size="xs"
        variant="transparent"
        color={isError ? 'var(--mantine-color-error)' : 'yellow'}
        aria-label={message}
        title={message}
      >
        <IconAlertTriangle size={14} />
      </ActionIcon>
    </Popover.Target>
    <Popover.Dropdown>
      <Stack gap="xs">
        <Text size="sm" className="break" tabIndex={0}>
          {message}
        </Text>
        {children}
      </Stack>
    </Popover.Dropdown>
  </Popover>
)

/** The problems of a row that are in none of its cells. */
function OtherProblems({ one, keys }: { one: Row; keys: readonly string[] }) {
  const isElsewhere = ({ target_field }: RowProblem) => target_field === null || !keys.includes(target_field)
  return (
    <Stack gap={2} miw={160}>
      {one.errors.map(({ message }, index) => (
        <Text key={`e${index}`} size="xs" c="var(--mantine-color-error)" className="break">
          {message}
        </Text>
      ))}
      {one.warnings.filter(isElsewhere).map(({ message }, index) => (
        <Text key={`w${index}`} size="xs" c="dimmed" className="break">
          {message}
        </Text>
      ))}
    </Stack>
  )
}
