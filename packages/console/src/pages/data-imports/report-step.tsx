import { Alert, Group, List, Progress, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { api } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, loadWords, plural } from '../../words'
import { CountTiles } from './count-tiles'
import { FileFacts } from './file-step'
import { OptionFacts } from './option-facts'
import { ReportButton } from './preview-step'
import { RowGrid } from './row-grid'
import { type DataImport, type ImportResult, storeImport } from './use-import'

const route = getRouteApi('/shell/editions/$edition/imports/$import')
const t = await loadWords('dataImports')

const outcomeOf = {
  created_orders: 'created',
  updated_orders: 'updated',
  skipped_orders: 'skipped',
  failed_orders: 'error',
} as const
const colours = { created: 'teal.6', updated: 'blue.6', skipped: 'gray.6', error: 'red.6' } as const

/** Reports on an import row by row, and offers its undo. */
export function ReportStep({ result }: { result: ImportResult }) {
  const { data: row } = result
  const { outcome, has_errors, page, cursor } = route.useSearch()
  const change = useSearchChange()
  const counts = Object.entries(outcomeOf).map(([field, key]) => ({
    key,
    label: key === 'error' ? t.failed : t.outcomes[key],
    count: row[field as keyof typeof outcomeOf],
    isBad: key === 'error',
  }))
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm">
          <b>{plural(total, t.recordCounts[row.kind])}</b>
          {row.completed_at !== null && (
            <>
              {' · '}
              {t.ended} <Time at={row.completed_at} />
            </>
          )}
        </Text>
        <Group gap="xs">
          {row.kind === 'orders' && row.status !== 'undone' && row.created_orders + row.updated_orders > 0 && (
            <Link
              className="link"
              to="/editions/$edition/orders"
              params={{ edition: row.edition.id }}
              search={{ data_import_id: row.id }}
            >
              {t.showOrders}
            </Link>
          )}
          {row.error_report_url !== null && <ReportButton row={row} />}
          <ResumeButton row={row} />
          <UndoButton row={row} />
        </Group>
      </Group>
      {total > 0 && (
        <Progress.Root size="lg" aria-hidden>
          {counts.map(({ key, count }) => (
            <Progress.Section key={key} value={(count / total) * 100} color={colours[key]} />
          ))}
        </Progress.Root>
      )}
      <CountTiles
        label={t.outcome}
        tiles={counts}
        value={counts.find(({ key }) => key === outcome)?.key}
        onChange={(next) => change.set({ outcome: next, has_errors: undefined })}
      />
      <UndoResult row={row} />
      {row.rows_deleted_at !== null ? (
        <Alert color="gray" variant="outline">
          {t.rowsDeleted} <Time at={row.rows_deleted_at} />
        </Alert>
      ) : (
        <Section title={t.rowsTitle}>
          <RowGrid row={row} search={{ page, cursor, outcome, has_errors }} />
        </Section>
      )}
      {row.source !== 'api' && (
        <Section title={t.file}>
          <FileFacts row={row} />
        </Section>
      )}
      <OptionFacts result={result} />
    </Stack>
  )
}

/** A failed import continues behind its last record. */
function ResumeButton({ row }: { row: DataImport }) {
  const [isOpen, dialog] = useDisclosure()
  const navigate = useNavigate()
  if (row.status !== 'failed' || !row.allowed_actions.includes('start')) return null
  return (
    <>
      <ActionButton operation="startDataImport" onClick={dialog.open}>
        {t.resume}
      </ActionButton>
      <FormDialog
        title={t.resume}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) =>
          api.POST('/v1/data-imports/{id}/start', {
            params: { path: { id: row.id } },
            headers,
            body: { skip_invalid_rows: row.invalid_rows > 0 },
          })
        }
        onSent={(result) => {
          storeImport(result)
          return navigate({ to: '.', search: {} as never })
        }}
        submitLabel={t.resume}
      >
        {() => <Text size="sm">{t.resumeHint}</Text>}
      </FormDialog>
    </>
  )
}

function UndoButton({ row }: { row: DataImport }) {
  const [isOpen, dialog] = useDisclosure()
  const reason = row.allowed_actions.includes('undo') ? null : t.noUndo
  if (row.status === 'undone') return null
  return (
    <>
      <ActionButton operation="undoDataImport" variant="default" color="red" reason={reason} onClick={dialog.open}>
        {t.undo}
      </ActionButton>
      <FormDialog
        title={t.undoTitle}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) => api.POST('/v1/data-imports/{id}/undo', { params: { path: { id: row.id } }, headers })}
        onSent={storeImport}
        submitLabel={t.undo}
        isDangerous
      >
        {() => (
          <Stack gap="xs">
            <List size="sm" spacing={4}>
              {row.created_orders > 0 && <List.Item>{plural(row.created_orders, t.undoCreated[row.kind])}</List.Item>}
              {row.updated_orders > 0 && <List.Item>{plural(row.updated_orders, t.undoUpdated[row.kind])}</List.Item>}
              <List.Item>{t.undoRest}</List.Item>
            </List>
            <Text size="sm" fw={600}>
              {t.undoKeepsTitle}
            </Text>
            <Text size="sm">{t.undoKeeps[row.kind]}</Text>
            {row.undo_until !== null && (
              <Text size="sm" c="dimmed">
                {t.undoUntil} <Time at={row.undo_until} />
              </Text>
            )}
          </Stack>
        )}
      </FormDialog>
    </>
  )
}

function UndoResult({
  row: { status, undone_orders, kept_orders, shared_customer_orders, kind },
}: {
  row: DataImport
}) {
  if (status !== 'undone') return null
  return (
    <Alert color={kept_orders > 0 ? 'yellow' : 'teal'} variant="outline" title={t.statuses.undone}>
      <List size="sm">
        <List.Item>
          {t.undoneCount}: {plural(undone_orders, t.recordCounts[kind])}
        </List.Item>
        {kept_orders > 0 && (
          <List.Item>
            {t.keptCount}: {formatCount(kept_orders)}. {t.keptHint}
          </List.Item>
        )}
        {shared_customer_orders > 0 && (
          <List.Item>
            {t.sharedCount}: {formatCount(shared_customer_orders)}
          </List.Item>
        )}
      </List>
    </Alert>
  )
}
