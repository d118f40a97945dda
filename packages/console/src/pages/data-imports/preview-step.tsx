import { Alert, Group, List, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getList, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { ExportButton } from '../../parts/export-button'
import { FormDialog } from '../../parts/form-dialog'
import { Loaded } from '../../parts/loaded'
import { type Column, RecordList } from '../../parts/record-list'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { formatCount, formatMoney, loadWords, plural, words } from '../../words'
import { CountTiles } from './count-tiles'
import { OptionFacts } from './option-facts'
import { RowGrid } from './row-grid'
import { type DataImport, type ImportResult, storeImport } from './use-import'

const route = getRouteApi('/shell/editions/$edition/imports/$import')
const t = await loadWords('dataImports')
const pageSize = 50

type Preview = Schema['ImportPreview']
type PreviewOrder = Schema['ImportPreviewOrder']
type Action = PreviewOrder['action']

const actions = ['create', 'update', 'skip', 'error', 'ignore'] as const

/** Shows the orders that the import would make, before anything is written. */
export function PreviewStep({ result }: { result: ImportResult }) {
  const { import: id } = route.useParams()
  const search = route.useSearch()
  const change = useSearchChange()
  const { action, page, cursor } = search
  const query = { page_size: pageSize, page, cursor, action }
  const preview = useQuery({
    ...getList('/v1/data-imports/{id}/preview', { params: { path: { id }, query } }),
    refetchInterval: ({ state }) => (state.data?.data.totals_state === 'counting' ? 1000 : false),
  })
  const { data: row } = result
  return (
    <Loaded query={preview}>
      {(data) => (
        <Stack gap="sm">
          <StartBar row={row} preview={data} />
          {data.warnings.map(({ code, message }) => (
            <Alert key={code} color="yellow" variant="outline">
              {message}
            </Alert>
          ))}
          {data.totals && (
            <CountTiles
              label={t.steps.preview}
              tiles={actions.map((key) => ({
                key,
                label: t.actions[key],
                count: data.totals?.[key] ?? 0,
                isBad: key === 'error',
              }))}
              value={action}
              onChange={(next) => change.set({ action: next })}
            />
          )}
          <OptionFacts result={result} />
          {action === 'error' ? (
            <Section
              title={t.rowsWithErrors}
              hint={t.rowsWithErrorsHint}
              actions={row.invalid_rows > 0 && <ReportButton row={row} />}
            >
              <RowGrid row={row} search={{ page, cursor, has_errors: true }} canReplace={row.status === 'ready'} />
            </Section>
          ) : (
            <RecordList
              name={`import-preview.${row.kind}`}
              label={t.steps.preview}
              list={preview}
              search={{ action, page } as { page?: number }}
              columns={listColumns(row)}
              rowKey={({ id: key }) => key}
              pageSize={pageSize}
              countLabel={(count) => plural(count, t.recordCounts[row.kind])}
              empty={{ title: t.nothingToImport }}
            />
          )}
        </Stack>
      )}
    </Loaded>
  )
}

export const ReportButton = ({ row }: { row: DataImport }) => (
  <ExportButton
    operation="downloadErrorReport"
    path="/v1/data-imports/{id}/error-report"
    init={{ params: { path: { id: row.id } } }}
    fileName={`${row.name}.errors.csv`}
    label={plural(row.invalid_rows, t.downloadErrors)}
  />
)

const listColumns = ({ kind }: DataImport): Column<PreviewOrder>[] => [
  {
    key: 'number',
    label: kind === 'orders' ? t.order : words.common.customer,
    cell: ({ order_number, external_id, customer, row_numbers }) =>
      (kind === 'orders' ? (order_number ?? external_id) : (customer?.email ?? customer?.phone_number)) ??
      `${t.row} ${row_numbers[0] ?? ''}`,
  },
  { key: 'action', label: t.willBe, cell: ({ action }) => t.actions[action] },
  {
    key: 'customer',
    label: kind === 'orders' ? words.common.customer : words.common.name,
    cell: ({ customer }) =>
      customer && (
        <>
          {customer.full_name}{' '}
          <Text span size="sm" c="dimmed">
            {kind === 'orders' && customer.email} {customer.is_new && `· ${t.newCustomer}`}
          </Text>
        </>
      ),
  },
  ...(kind === 'orders' ? orderColumns : []),
  { key: 'problems', label: t.problems, cell: (order) => <Problems order={order} /> },
]

const orderColumns: Column<PreviewOrder>[] = [
  {
    key: 'items',
    label: words.common.tickets,
    cell: ({ items }) =>
      items.map(({ quantity, product, variant }, index) => (
        <Text key={index} size="xs" className="break">
          {formatCount(quantity)} × {product.name}
          {variant && `, ${variant.name}`}
        </Text>
      )),
  },
  {
    key: 'amount',
    label: words.common.amount,
    isNumber: true,
    cell: ({ amount, currency }) => (amount === null || currency === null ? '' : formatMoney(amount, currency)),
  },
]

/** Lists the faults of an order, and the changes by an update. */
function Problems({ order: { errors, warnings, changes } }: { order: PreviewOrder }) {
  return (
    <Stack gap={2}>
      {errors.map(({ row, message }, index) => (
        <Text key={`e${index}`} size="xs" c="var(--mantine-color-error)" className="break">
          {t.line} {row}: {message}
        </Text>
      ))}
      {warnings.map(({ row, message }, index) => (
        <Text key={`w${index}`} size="xs" c="dimmed" className="break">
          {t.line} {row}: {message}
        </Text>
      ))}
      {changes.map(({ field, before, after }) => (
        <Text key={field} size="xs" className="break">
          {field}: {before ?? '—'} → {after ?? '—'}
        </Text>
      ))}
    </Stack>
  )
}

/** The number of records that an import would write. */
const countWrites = ({ totals }: Preview): number => (totals ? totals.create + totals.update : 0)

function StartBar({ row, preview }: { row: DataImport; preview: Preview }) {
  const [isOpen, dialog] = useDisclosure()
  const isCounting = preview.totals_state === 'counting'
  const writes = countWrites(preview)
  const reason = isCounting ? t.counting : writes === 0 ? t.nothingToImport : null
  const isStarted = row.started_at !== null
  return (
    <Group justify="space-between">
      <Text size="sm" aria-live="polite">
        {isCounting
          ? `${t.counting} ${formatCount(preview.previewed_orders)} / ${formatCount(preview.total_orders)}`
          : plural(row.total_rows, t.rowsInFile)}
      </Text>
      {!isStarted && (
        <ActionButton operation="startDataImport" reason={reason} onClick={dialog.open}>
          {isCounting ? t.start : plural(writes, t.startCounts[row.kind])}
        </ActionButton>
      )}
      <StartDialog row={row} preview={preview} isOpen={isOpen} close={dialog.close} />
    </Group>
  )
}

interface DialogProps {
  row: DataImport
  preview: Preview
  isOpen: boolean
  close: () => void
}

function StartDialog({ row, preview: { totals }, isOpen, close }: DialogProps) {
  const navigate = useNavigate()
  const errors = totals?.error ?? 0
  const list: [Action, number][] = actions.map((key) => [key, totals?.[key] ?? 0])
  return (
    <FormDialog
      title={t.startTitle}
      isOpen={isOpen}
      close={close}
      initialValues={{}}
      send={(_, headers) =>
        api.POST('/v1/data-imports/{id}/start', {
          params: { path: { id: row.id } },
          headers,
          body: { skip_invalid_rows: errors > 0 || row.invalid_rows > 0 },
        })
      }
      onSent={(result) => {
        storeImport(result)
        return navigate({ to: '.', search: {} as never })
      }}
      submitLabel={t.start}
    >
      {() => (
        <Stack gap="xs">
          <List size="sm">
            {list
              .filter(([, count]) => count > 0)
              .map(([action, count]) => (
                <List.Item key={action}>
                  <b>{formatCount(count)}</b> {t.actions[action]}
                </List.Item>
              ))}
          </List>
          {errors > 0 && <Text size="sm">{t.errorsLeftOut}</Text>}
          <Text size="sm">{row.options.send_receipts ? t.receiptsSent : t.receiptsNotSent}</Text>
          <Text size="sm">{row.emit_webhooks ? t.webhooksSent : t.webhooksNotSent}</Text>
          <Text size="sm" c="dimmed">
            {t.undoPossible}
          </Text>
        </Stack>
      )}
    </FormDialog>
  )
}
