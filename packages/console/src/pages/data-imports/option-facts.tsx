import { Group, Paper, Select, SimpleGrid, Switch, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { api, getWithEtag, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { EditDialog } from '../../parts/edit-form'
import { currencyOptions } from '../../parts/names'
import { loadWords, words } from '../../words'
import type { DataImport, ImportResult } from './use-import'

const ordersWords = await loadWords('orders')

const t = await loadWords('dataImports')

type Options = Schema['DataImportOptions']

const readYes = (value: boolean): string => (value ? words.common.yes : words.common.no)

const toData = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

/** Shows the options of the import: for records that exist, for messages, and for what the file leaves open. */
export function OptionFacts({ result }: { result: ImportResult }) {
  const { options, emit_webhooks, kind, remembered_options, allowed_actions, started_at } = result.data
  const [isOpen, dialog] = useDisclosure()
  const isOrders = kind === 'orders'
  const canChange = started_at === null && allowed_actions.includes('update')
  const facts = [
    [t.onDuplicate, t.duplicatePolicies[options.on_duplicate]],
    [t.groupBy, isOrders && t.groupings[options.group_by ?? 'auto']],
    [t.defaultStatus, isOrders && ordersWords.statuses[options.default_status]],
    [t.currency, isOrders && (options.default_currency?.toUpperCase() ?? t.ofEdition)],
    [t.sendReceipts, isOrders && readYes(options.send_receipts)],
    [t.emitWebhooks, readYes(emit_webhooks)],
    [t.timeZone, options.timezone ?? t.ofEdition],
  ] as const
  return (
    <Paper withBorder px="sm" py="xs" component="section" aria-label={t.optionsTitle}>
      <Group justify="space-between" wrap="nowrap" align="start">
        <Group gap="4px 16px">
          {facts.map(
            ([label, value]) =>
              value !== false && (
                <Text key={label} size="sm">
                  <Text span size="sm" c="dimmed">
                    {label}:
                  </Text>{' '}
                  {value}
                </Text>
              ),
          )}
          {remembered_options.length > 0 && (
            <Text size="sm" c="dimmed">
              {t.remembered}
            </Text>
          )}
        </Group>
        {canChange && (
          <ActionButton
            operation="updateDataImport"
            variant="default"
            size="xs"
            miw="max-content"
            onClick={dialog.open}
          >
            {words.common.edit}
          </ActionButton>
        )}
      </Group>
      {isOpen && <OptionDialog row={result.data} close={dialog.close} />}
    </Paper>
  )
}

type Values = ReturnType<typeof readValues>

const readValues = ({ options, emit_webhooks }: DataImport) => ({
  on_duplicate: options.on_duplicate,
  group_by: options.group_by ?? 'auto',
  default_status: options.default_status,
  default_currency: options.default_currency ?? '',
  timezone: options.timezone ?? '',
  create_users: options.create_users,
  create_missing_products: options.create_missing_products,
  send_receipts: options.send_receipts,
  skipped: options.skipped,
  emit_webhooks,
})

/** The changes as the API takes them. What was not changed may come from the memory of earlier imports. */
function buildChanges({ emit_webhooks, group_by, default_currency, timezone, ...others }: Partial<Values>) {
  return {
    emit_webhooks,
    options: {
      ...others,
      ...(group_by !== undefined && { group_by: group_by === 'auto' ? null : (group_by as Options['group_by']) }),
      ...(default_currency !== undefined && {
        default_currency: (default_currency || null) as Options['default_currency'],
      }),
      ...(timezone !== undefined && { timezone: timezone.trim() || null }),
    },
  }
}

function OptionDialog({ row, close }: { row: DataImport; close: () => void }) {
  const isOrders = row.kind === 'orders'
  const params = { path: { id: row.id } }
  return (
    <EditDialog
      title={t.optionsTitle}
      query={getWithEtag('/v1/data-imports/{id}', { params })}
      close={close}
      size="lg"
      operation="updateDataImport"
      read={readValues}
      save={(changes, headers) => api.PATCH('/v1/data-imports/{id}', { params, headers, body: buildChanges(changes) })}
      fieldOf={(pointer) => pointer.split('/').at(-1) ?? ''}
    >
      {(form) => {
        const toggle = (name: string) => form.getInputProps(name, { type: 'checkbox' })
        return (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <Select
                label={t.onDuplicate}
                allowDeselect={false}
                data={toData(t.duplicatePolicies)}
                {...form.getInputProps('on_duplicate')}
              />
              <TextInput label={t.timeZone} placeholder={t.ofEdition} {...form.getInputProps('timezone')} />
              {isOrders && (
                <>
                  <Select
                    label={t.groupBy}
                    allowDeselect={false}
                    data={toData(t.groupings)}
                    {...form.getInputProps('group_by')}
                  />
                  <Select
                    label={t.defaultStatus}
                    allowDeselect={false}
                    data={toData(ordersWords.statuses)}
                    {...form.getInputProps('default_status')}
                  />
                  <Select
                    label={t.currency}
                    clearable
                    placeholder={t.ofEdition}
                    data={currencyOptions}
                    {...form.getInputProps('default_currency')}
                  />
                </>
              )}
            </SimpleGrid>
            {isOrders && (
              <>
                <Switch label={t.createUsers} {...toggle('create_users')} />
                <Switch label={t.createProducts} {...toggle('create_missing_products')} />
                <Switch label={t.sendReceipts} {...toggle('send_receipts')} />
              </>
            )}
            <Switch label={t.emitWebhooks} {...toggle('emit_webhooks')} />
            <Switch label={t.skipped} {...toggle('skipped')} />
          </>
        )
      }}
    </EditDialog>
  )
}
