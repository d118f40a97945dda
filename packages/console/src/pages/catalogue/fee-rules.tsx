import { Group, NumberInput, Select, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { useEdition } from '../../caller'
import { type CurrencyCode, currencyCodes, currencyOptions, nameCurrency } from '../../parts/names'
import { RoleGate } from '../../parts/role-gate'
import { Status } from '../../parts/status'
import { fill, formatMoney, formatPercent, loadWords, words } from '../../words'
import { type ResourceKind, ResourceList } from './resource-list'

const catalogueWords = await loadWords('catalogue')

const route = getRouteApi('/shell/editions/$edition/fee-rules')
const t = catalogueWords.feeRules

type FeeRule = Schema['FeeRule']
interface Values extends Record<string, unknown> {
  name: string
  description: string
  currency: CurrencyCode
  rate: number | string
  fixed_amount: number | string
  is_active: boolean
}

const exampleAmount = 100

/** Writes the fee of an example order. */
function writeExample({ currency, rate, fixed_amount }: Values): string {
  const fee = (exampleAmount * Number(rate)) / 100 + Number(fixed_amount)
  return fill(t.example, { amount: formatMoney(exampleAmount, currency), fee: formatMoney(fee, currency) })
}

function NameCell({ rule }: { rule: FeeRule }) {
  const edition = useEdition()
  return (
    <Group gap="xs" component="span">
      {rule.name}
      {edition?.fee_rule_id === rule.id && <Status tone="good" label={t.ofEdition} />}
    </Group>
  )
}

const kind: ResourceKind<FeeRule, Values> = {
  path: '/v1/fee-rules',
  texts: t,
  hint: t.hint,
  isShared: true,
  operations: { create: 'createFeeRule', update: 'updateFeeRule', remove: 'deleteFeeRule' },
  columns: [
    { key: 'name', label: words.common.name, sort: 'name', cell: (rule) => <NameCell rule={rule} /> },
    { key: 'rate', label: t.rate, isNumber: true, cell: ({ rate }) => formatPercent(rate / 100) },
    {
      key: 'fixed',
      label: t.fixed,
      isNumber: true,
      isMain: true,
      cell: ({ fixed_amount, currency }) => formatMoney(fixed_amount, currency),
    },
    {
      key: 'active',
      label: words.common.status,
      cell: ({ is_active }) => <Status tone={is_active ? 'good' : 'none'} label={is_active ? t.active : t.inactive} />,
    },
    { key: 'description', label: t.description, cell: ({ description }) => description },
  ],
  filters: [
    {
      key: 'currency',
      label: t.currency,
      kind: 'choice',
      options: Object.fromEntries(currencyCodes.map((code) => [code, nameCurrency(code)])),
    },
    { key: 'is_active', label: t.active, kind: 'boolean' },
  ],
  defaultOrdering: 'name',
  read: (row) => ({
    name: row?.name ?? '',
    description: row?.description ?? '',
    currency: row?.currency ?? 'dkk',
    rate: row?.rate ?? 0,
    fixed_amount: row?.fixed_amount ?? 0,
    is_active: row?.is_active ?? true,
  }),
  toBody: ({ rate, fixed_amount, ...values }) => ({
    ...values,
    ...(rate !== undefined && { rate: Number(rate) }),
    ...(fixed_amount !== undefined && { fixed_amount: Number(fixed_amount) }),
  }),
  labels: { name: words.common.name, rate: t.rate, fixed_amount: t.fixed, is_active: t.active, currency: t.currency },
  fields: (form, row) => (
    <>
      {row && (
        <Text size="sm" c="dimmed">
          {t.editHint}
        </Text>
      )}
      <TextInput label={words.common.name} required data-autofocus maxLength={200} {...form.getInputProps('name')} />
      <Textarea label={t.description} autosize minRows={1} {...form.getInputProps('description')} />
      <Select label={t.currency} data={currencyOptions} allowDeselect={false} {...form.getInputProps('currency')} />
      <SimpleGrid cols={2}>
        <NumberInput
          label={t.rate}
          description={t.rateHint}
          min={0}
          max={100}
          suffix=" %"
          {...form.getInputProps('rate')}
        />
        <NumberInput
          label={t.fixed}
          description={form.values.currency.toUpperCase()}
          min={0}
          decimalScale={2}
          {...form.getInputProps('fixed_amount')}
        />
      </SimpleGrid>
      <Text size="sm" c="dimmed" aria-live="polite">
        {writeExample(form.values)}
      </Text>
      <Switch label={t.active} {...form.getInputProps('is_active', { type: 'checkbox' })} />
    </>
  ),
}

export function FeeRules() {
  const { edition } = route.useParams()
  const search = route.useSearch()
  return (
    <RoleGate operation="listFeeRules" title={t.title}>
      <ResourceList kind={kind} edition={edition} search={search} />
    </RoleGate>
  )
}
