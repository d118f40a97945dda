import { Badge, Group, Select, Stack, Table, Text } from '@mantine/core'
import { useIsMutating, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, get, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { ScrollTable } from '../../parts/scroll-table'
import { Section } from '../../parts/section'
import { formatCount, loadWords, plural, words } from '../../words'
import { ColumnDialog } from './column-dialog'
import { ColumnProblems } from './column-problems'
import { type Column, type Columns, nameColumn, patchColumns } from './columns'
import { ConstantList } from './constant-list'
import { FileFacts } from './file-step'
import { listTargetChoices } from './targets'
import { type DataImport, type ImportResult, isAllowedNow, storeImport } from './use-import'

const route = getRouteApi('/shell/editions/$edition/imports/$import')
const t = await loadWords('dataImports')

type Validation = Schema['ColumnMappingValidation']

/** More than a file may have. */
const maxColumns = 500

/** Maps the columns of the file to fields. */
export function ColumnStep({ result }: { result: ImportResult }) {
  const { import: id } = route.useParams()
  const { data: row } = result
  const canChange = row.allowed_actions.includes('update_column_mappings')
  const columns = useQuery(
    get('/v1/data-imports/{id}/column-mappings', { params: { path: { id }, query: { page_size: maxColumns } } }),
  )
  const validation = useQuery({
    queryKey: ['validateColumnMappings', id],
    queryFn: async () => {
      const { data } = await api.POST('/v1/data-imports/{id}/column-mappings/validate', { params: { path: { id } } })
      return data
    },
    enabled: () => isAllowedNow(id, 'validate'),
  })
  return (
    <Loaded query={columns}>
      {(data) => (
        <Stack gap="sm">
          <ContinueBar row={row} columns={data} validation={validation.data} />
          {validation.error && <Refusal error={validation.error} retry={validation.refetch} />}
          {validation.data && <ColumnProblems id={id} columns={data} validation={validation.data} />}
          <ColumnTable row={row} columns={data} validation={validation.data} isFixed={!canChange} />
          <ConstantList id={id} columns={data} isFixed={!canChange} />
          <Section title={t.file}>
            <FileFacts row={row} />
          </Section>
        </Stack>
      )}
    </Loaded>
  )
}

interface BarProps {
  row: DataImport
  columns: Columns
  validation: Validation | undefined
}

/** Leads to the next step, or says what it waits for. */
function ContinueBar({ row, columns, validation }: BarProps) {
  const navigate = useNavigate()
  const process = useChange(
    (_: null, headers) =>
      api.POST('/v1/data-imports/{id}/column-mappings/process', { params: { path: { id: row.id } }, headers }),
    {
      onSent(result) {
        storeImport(result)
        return navigate({ to: '.', search: {} as never })
      },
    },
  )
  // A change is under way until the columns are checked again.
  const isChanging = useIsMutating() > 0 && !process.isPending
  const mapped = columns.results.filter(({ target_field }) => target_field !== null).length
  const canProcess = row.allowed_actions.includes('process')
  const isDone = row.status === 'mapping_products' || row.status === 'ready'
  return (
    <>
      <Group justify="space-between">
        <Text size="sm">
          <b>
            {formatCount(mapped)} / {formatCount(columns.count)}
          </b>{' '}
          {t.columnsMapped}
          {validation && validation.checked_rows > 0 && ` · ${plural(validation.checked_rows, t.checkedRows)}`}
        </Text>
        {(canProcess || isDone) && (
          <ActionButton
            operation="processColumnMappings"
            loading={process.isPending}
            reason={
              isChanging ? `${words.common.loading} …` : validation && !validation.is_valid ? t.solveProblems : null
            }
            onClick={() => (canProcess ? process.mutate(null) : void navigate({ to: '.', search: {} as never }))}
          >
            {t.continue}
          </ActionButton>
        )}
      </Group>
      {process.error && <Refusal error={process.error} />}
    </>
  )
}

interface TableProps extends BarProps {
  isFixed: boolean
}

function ColumnTable({ row, columns, validation, isFixed }: TableProps) {
  return (
    <ScrollTable label={t.steps.columns} width={820} verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.column}</Table.Th>
          <Table.Th>{t.samples}</Table.Th>
          <Table.Th w={270}>{t.becomes}</Table.Th>
          <Table.Th>{t.origin}</Table.Th>
          <Table.Td />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {columns.results.map((column) => (
          <Table.Tr key={column.id}>
            <Table.Td className="break" maw={180}>
              <Text size="sm" fw={600}>
                {nameColumn(column)}
              </Text>
              {column.blank_cells > 0 && (
                <Text size="xs" c="dimmed">
                  {plural(column.blank_cells, t.blankCells)}
                </Text>
              )}
            </Table.Td>
            <Table.Td maw={260}>
              <Text size="xs" lineClamp={2} className="break" title={column.sample_values.join('\n')}>
                {column.sample_values.slice(0, 4).join(' · ')}
              </Text>
            </Table.Td>
            <Table.Td>
              <TargetField row={row} column={column} columns={columns} isFixed={isFixed} />
              <CellErrors column={column} validation={validation} />
            </Table.Td>
            <Table.Td>
              <Origin column={column} />
            </Table.Td>
            <Table.Td ta="right">
              {column.target_field !== null && !isFixed && <ColumnDialog id={row.id} column={column} />}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
  )
}

const leaveOut = ''

interface TargetProps {
  row: DataImport
  column: Column
  columns: Columns
  isFixed: boolean
}

/** Chooses the field of a column. Leaving the column out is a decision too. */
function TargetField({ row, column, columns, isFixed }: TargetProps) {
  const { id, target_field, is_ignored, source_column } = column
  const change = useChange((target: string, headers) =>
    patchColumns(
      row.id,
      { mappings: [{ id, target_field: target === leaveOut ? null : target, is_ignored: target === leaveOut }] },
      headers,
    ),
  )
  const choices = listTargetChoices({
    targets: columns.target_fields,
    header: source_column,
    current: target_field,
    kind: row.kind,
  })
  return (
    <>
      <Select
        size="xs"
        aria-label={`${t.becomes}: ${nameColumn(column)}`}
        placeholder={t.notImported}
        searchable
        allowDeselect={false}
        disabled={isFixed || change.isPending}
        nothingFoundMessage={words.common.noMatch}
        data={[{ value: leaveOut, label: t.leaveOut }, ...choices]}
        value={change.isPending ? change.variables : (target_field ?? (is_ignored ? leaveOut : null))}
        onChange={(target) => target !== null && change.mutate(target)}
        comboboxProps={{ width: 320, position: 'bottom-start' }}
      />
      {change.error && <Refusal error={change.error} />}
    </>
  )
}

/** The problems of the cells of a column, as far as the first rows were checked. */
function CellErrors({ column, validation }: { column: Column; validation: Validation | undefined }) {
  const isHere = ({ row, source_index, code }: Schema['ImportRowError']) =>
    row !== null && source_index === column.source_index && code !== 'ambiguous_format'
  const errors = validation?.errors.filter(isHere) ?? []
  const warnings = validation?.warnings.filter(isHere) ?? []
  return [
    { list: errors, colour: 'var(--mantine-color-error)', count: t.cellErrors },
    { list: warnings, colour: 'dimmed', count: t.cellWarnings },
  ].map(({ list: [first, ...others], colour, count }, index) =>
    first === undefined ? null : (
      <Text key={index} size="xs" c={colour} mt={2} className="break">
        {plural(others.length + 1, count)}: {t.line} {first.row}: {first.message}
      </Text>
    ),
  )
}

function Origin({ column: { target_field, suggested_by, is_suggested, is_required } }: { column: Column }) {
  if (target_field === null) return null
  return (
    <Group gap={4}>
      <Text size="xs" c="dimmed">
        {is_suggested && suggested_by !== null ? t.origins[suggested_by] : t.originYou}
      </Text>
      {is_required && (
        <Badge size="xs" variant="default" tt="none">
          {t.required}
        </Badge>
      )}
    </Group>
  )
}
