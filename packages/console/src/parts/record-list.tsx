import { Button, Checkbox, Group, Paper, Popover, Skeleton, Stack, Table, Text, UnstyledButton } from '@mantine/core'
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { IconArrowDown, IconArrowUp, IconColumns3 } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { countFilters } from '../search'
import { formatCount, words } from '../words'
import { Empty } from './empty'
import { Refusal } from './refusal'
import { ScrollTable } from './scroll-table'
import { useSearchChange } from './search-change'

export interface Column<Row> {
  key: string
  label: string
  cell: (row: Row) => ReactNode
  /** The key of `ordering` by which the server sorts this column. */
  sort?: string
  isNumber?: boolean
  /** True for the number that stands beside the title of a card. Default: the first column of numbers. */
  isMain?: boolean
  /** True for columns that show only when they are chosen. */
  isHidden?: boolean
  /** True if a card shows the name of the column before the value, because the value alone says too little. Default: for numbers. */
  isNamed?: boolean
}

export interface Page<Row> {
  count: number
  next: string | null
  previous: string | null
  results: Row[]
}

interface Props<Row> {
  /** The name of the list, for the choice of columns that this browser remembers. */
  name: string
  label: string
  list: UseQueryResult<Page<Row>>
  /** The search parameters of the route. */
  search: { ordering?: string; page?: number }
  /** The first column names the row. */
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  /** The page of a row, to which its first column leads. */
  link?: (row: Row) => LinkProps
  pageSize: number
  /** The count in words, such as "1,234 orders". */
  countLabel: (count: number) => string
  /** Shown when there is nothing and no filter is set. */
  empty: { title: string; hint?: ReactNode; action?: ReactNode }
  /** The actions on all rows, such as an export. */
  actions?: ReactNode
}

/** The number of columns that fit a window without scrolling is the person's choice. */
const columnWidth = 110

/** A list of the API: sorted by header, with columns that can be chosen, page by page, as cards where the window is narrow. */
export function RecordList<Row>(props: Props<Row>) {
  const { name, list, columns, search, empty, actions } = props
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const [chosen, setChosen] = useLocalStorage<string[]>({
    key: `columns.${name}`,
    defaultValue: columns.filter(({ isHidden }) => !isHidden).map(({ key }) => key),
    getInitialValueInEffect: false,
  })
  const change = useSearchChange()
  if (list.error && !list.data) return <Refusal error={list.error} retry={list.refetch} />
  if (!list.data)
    return (
      <Stack gap={4} aria-busy role="status" aria-label={words.common.loading}>
        {Array.from({ length: 14 }, (_, index) => (
          <Skeleton key={index} h={30} />
        ))}
      </Stack>
    )
  const { data } = list
  if (data.count === 0)
    return countFilters(search) === 0 ? (
      <Empty {...empty} />
    ) : (
      <Empty
        title={words.common.noMatch}
        action={
          <Button variant="default" onClick={() => change.clear()}>
            {words.common.clearFilters}
          </Button>
        }
      />
    )
  const visibleColumns = columns.filter(({ key }, index) => index === 0 || chosen.includes(key))
  const isOld = list.isPlaceholderData
  return (
    <Stack gap="xs">
      {list.error && <Refusal error={list.error} retry={list.refetch} />}
      <Group justify="space-between" gap="xs">
        <Text aria-live="polite" c="dimmed" size="sm">
          {props.countLabel(data.count)}
        </Text>
        <Group gap="xs">
          {actions}
          {!isNarrow && <ColumnChoice columns={columns} chosen={chosen} setChosen={setChosen} />}
        </Group>
      </Group>
      <div className={isOld ? 'old' : undefined} aria-busy={isOld} inert={isOld}>
        {isNarrow ? (
          <Cards {...props} rows={data.results} columns={visibleColumns} />
        ) : (
          <Rows {...props} rows={data.results} columns={visibleColumns} />
        )}
      </div>

      <Pages data={data} page={search.page ?? 1} pageSize={props.pageSize} />
    </Stack>
  )
}

type Shown<Row> = Props<Row> & { rows: readonly Row[] }

function Rows<Row>({ rows, columns, search, label, rowKey, link }: Shown<Row>) {
  const change = useSearchChange()
  return (
    <ScrollTable label={label} width={columns.length * columnWidth} highlightOnHover stickyHeader>
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <HeaderCell key={column.key} column={column} ordering={search.ordering} change={change} />
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={rowKey(row)}>
            {columns.map((column, index) => (
              <Table.Td key={column.key} className={column.isNumber ? 'numbers' : undefined}>
                {index === 0 && link ? (
                  <Link className="link" {...link(row)}>
                    {column.cell(row)}
                  </Link>
                ) : (
                  column.cell(row)
                )}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}

interface HeaderProps<Row> {
  column: Column<Row>
  ordering: string | undefined
  change: ReturnType<typeof useSearchChange>
}

/** Sorts by its column. A second click turns the order round. */
function HeaderCell<Row>({ column: { label, sort, isNumber }, ordering, change }: HeaderProps<Row>) {
  const isSorted = sort !== undefined && ordering?.replace('-', '') === sort
  const isDescending = ordering?.startsWith('-') ?? false
  const Arrow = isDescending ? IconArrowDown : IconArrowUp
  const direction = isDescending ? 'descending' : 'ascending'
  return (
    <Table.Th ta={isNumber ? 'right' : undefined} aria-sort={isSorted ? direction : undefined} className="nowrap">
      {sort === undefined ? (
        label
      ) : (
        <UnstyledButton
          fz="sm"
          fw={700}
          onClick={() => change.set({ ordering: isSorted && !isDescending ? `-${sort}` : sort })}
        >
          {label} {isSorted && <Arrow size={12} aria-hidden />}
        </UnstyledButton>
      )}
    </Table.Th>
  )
}

interface ChoiceProps<Row> {
  columns: readonly Column<Row>[]
  chosen: string[]
  setChosen: (keys: string[]) => void
}

function ColumnChoice<Row>({ columns, chosen, setChosen }: ChoiceProps<Row>) {
  return (
    <Popover position="bottom-end" shadow="md" trapFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="subtle" color="gray" leftSection={<IconColumns3 size={14} aria-hidden />}>
          {words.common.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group value={chosen} onChange={setChosen} aria-label={words.common.columns}>
          <Stack gap="xs">
            {columns.slice(1).map(({ key, label }) => (
              <Checkbox key={key} size="xs" value={key} label={label} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  )
}

/** The first column is the title of a card, the first column of numbers stands beside it. */
function Cards<Row>({ rows, columns, rowKey, link }: Shown<Row>) {
  const [title, ...others] = columns
  const number = others.find(({ isMain }) => isMain) ?? others.find(({ isNumber }) => isNumber)
  const lines = others.filter((column) => column !== number)
  return (
    <Stack gap="xs">
      {rows.map((row) => (
        <Paper key={rowKey(row)} withBorder p="sm">
          <Group justify="space-between" wrap="nowrap" align="start">
            <Text fw={600} component="div" className="break">
              {link ? (
                <Link className="link" {...link(row)}>
                  {title?.cell(row)}
                </Link>
              ) : (
                title?.cell(row)
              )}
            </Text>
            {number && (
              <Text className="numbers" fw={600} component="div">
                {number.cell(row)}
              </Text>
            )}
          </Group>
          <Group gap="xs" mt={4}>
            {lines.map((column) => (
              <Text key={column.key} size="sm" c="dimmed" component="div" className="break">
                {(column.isNamed ?? column.isNumber) && `${column.label}: `}
                {column.cell(row)}
              </Text>
            ))}
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}

/** Turns the pages of a list by its `next` and `previous`. */
export function Pages({ data, page, pageSize }: { data: Page<unknown>; page: number; pageSize: number }) {
  const change = useSearchChange()
  if (data.next === null && data.previous === null) return null
  const t = words.common
  return (
    <Group justify="space-between" component="nav" aria-label={t.pages}>
      <Text size="sm" c="dimmed">
        {t.page} {formatCount(page)} / {formatCount(Math.ceil(data.count / pageSize))}
      </Text>
      <Group gap="xs">
        <Button variant="default" size="xs" disabled={page === 1} onClick={() => change.set({})}>
          {t.firstPage}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={data.previous === null}
          onClick={() => data.previous !== null && change.turn(data.previous)}
        >
          {t.previousPage}
        </Button>
        <Button
          variant="default"
          size="xs"
          disabled={data.next === null}
          onClick={() => data.next !== null && change.turn(data.next)}
        >
          {t.nextPage}
        </Button>
      </Group>
    </Group>
  )
}
