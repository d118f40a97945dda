import {
  Checkbox,
  Group,
  NumberInput,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, get, getList, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { useSentForm } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { toInstant } from '../../parts/days'
import { Heading } from '../../parts/heading'
import { Refusal } from '../../parts/refusal'
import { SearchSelect } from '../../parts/search-select'
import { Section } from '../../parts/section'
import { loadWords, words } from '../../words'
import { BatchSteps } from './batch-status'

const route = getRouteApi('/shell/editions/$edition/refund-batches/new')
const t = await loadWords('refunds')

type Batch = Schema['RefundBatch']

const initialValues = {
  product_id: null as string | null,
  variant_id: null as string | null,
  location_id: null as string | null,
  status: null as 'active' | 'used' | null,
  uses: null as 'unused' | 'used' | null,
  created_after: '',
  created_before: '',
  amount: 'full' as Batch['amount'],
  percent: 50 as number | '',
  include_fees: true,
  cancel_purchases: true,
  notify_customers: true,
  reason: 'event_cancelled' as Batch['reason'],
  message: '',
}
type Values = typeof initialValues
type Form = UseFormReturnType<Values>

const options = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([value, label]) => ({ value, label }))

/** The body of the call. Fields without a choice are left out. */
function buildBody(values: Values, zone: string) {
  const { product_id, variant_id, location_id, status, uses, created_after, created_before, percent, ...others } =
    values
  return {
    ...others,
    ...(others.amount === 'percent' && percent !== '' && { percent }),
    filter: {
      ...(product_id !== null && { product_id }),
      ...(variant_id !== null && { variant_id }),
      ...(location_id !== null && { location_id }),
      ...(status !== null && { status }),
      ...(uses !== null && { uses }),
      ...(created_after !== '' && { created_after: toInstant(created_after, zone) }),
      ...(created_before !== '' && { created_before: toInstant(created_before, zone) }),
    },
  }
}

export function NewRefundBatch() {
  const { edition } = route.useParams()
  const zone = useEdition()?.timezone ?? 'UTC'
  const navigate = useNavigate()
  const { form, mutation, submit, shown } = useSentForm({
    initialValues,
    fieldOf: (pointer) => pointer.replace('#/filter/', '').replace('#/', ''),
    send: (values, headers) =>
      api.POST('/v1/editions/{id}/refund-batches', {
        params: { path: { id: edition } },
        body: buildBody(values, zone),
        headers,
      }),
    onSent: ({ data }) =>
      navigate({ to: '/editions/$edition/refund-batches/$batch', params: { edition, batch: data.id }, replace: true }),
  })
  return (
    <form onSubmit={submit}>
      <Stack>
        <Heading
          title={t.newBatchTitle}
          back={{ link: { to: '/editions/$edition/refund-batches', params: { edition } }, label: t.batches }}
        />
        <BatchSteps status={null} />
        <Which form={form} edition={edition} />
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <HowMuch form={form} />
          <Why form={form} />
        </SimpleGrid>
        {mutation.error && <Refusal error={mutation.error} shown={shown} />}
        <Group justify="end" gap="sm">
          <Text size="sm" c="dimmed">
            {t.countHint}
          </Text>
          <ActionButton type="submit" operation="createRefundBatch" loading={mutation.isPending}>
            {t.startCount}
          </ActionButton>
        </Group>
      </Stack>
    </form>
  )
}

function Which({ form, edition }: { form: Form; edition: string }) {
  const { product_id: product } = form.values
  const variants = useQuery({
    ...get('/v1/products/{id}', { params: { path: { id: product ?? '' } } }),
    enabled: product !== null,
  })
  const toOption = ({ id, name }: { id: string; name: string }) => ({ value: id, label: name })
  const { error, ...productProps } = form.getInputProps('product_id')
  return (
    <Section title={t.which} hint={t.whichHint}>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
        <SearchSelect
          label={t.product}
          placeholder={words.common.all}
          value={productProps.value}
          error={error}
          rows={(search) =>
            getList('/v1/products', {
              params: { query: { edition_id: edition, page_size: 20, ordering: ['name'], search } },
            })
          }
          toOption={toOption}
          onChange={(id) => form.setValues({ product_id: id, variant_id: null })}
        />
        {(variants.data?.variants.length ?? 0) > 0 && product !== null && (
          <Select
            label={t.variant}
            placeholder={words.common.all}
            clearable
            searchable
            data={variants.data?.variants.map(toOption) ?? []}
            {...form.getInputProps('variant_id')}
          />
        )}
        <SearchSelect
          label={t.location}
          placeholder={words.common.all}
          rows={(search) =>
            getList('/v1/locations', { params: { query: { edition_id: edition, page_size: 20, search } } })
          }
          toOption={toOption}
          {...form.getInputProps('location_id')}
        />
        <Select
          label={t.ticketStatus}
          placeholder={words.common.all}
          clearable
          data={[
            { value: 'active', label: words.states.purchase.active },
            { value: 'used', label: words.states.purchase.used },
          ]}
          {...form.getInputProps('status')}
        />
        <Select
          label={t.uses}
          placeholder={words.common.all}
          clearable
          data={options(t.useChoices)}
          {...form.getInputProps('uses')}
        />
        <TextInput type="datetime-local" label={t.boughtAfter} {...form.getInputProps('created_after')} />
        <TextInput type="datetime-local" label={t.boughtBefore} {...form.getInputProps('created_before')} />
      </SimpleGrid>
    </Section>
  )
}

const HowMuch = ({ form }: { form: Form }) => (
  <Section title={t.howMuch}>
    <Stack gap="sm">
      <Radio.Group aria-label={t.howMuch} {...form.getInputProps('amount')}>
        <Stack gap={6}>
          <Radio value="full" label={t.full} />
          <Radio value="percent" label={t.percentOf} />
        </Stack>
      </Radio.Group>
      {form.values.amount === 'percent' && (
        <NumberInput
          label={t.percent}
          required
          min={0.01}
          max={100}
          decimalScale={2}
          suffix=" %"
          maw={160}
          {...form.getInputProps('percent')}
        />
      )}
      <Checkbox
        label={t.includeFeesField}
        description={t.includeFeesHint}
        {...form.getInputProps('include_fees', { type: 'checkbox' })}
      />
      <Checkbox
        label={t.cancelTicketsField}
        description={t.cancelTicketsHint}
        {...form.getInputProps('cancel_purchases', { type: 'checkbox' })}
      />
    </Stack>
  </Section>
)

const Why = ({ form }: { form: Form }) => (
  <Section title={t.why}>
    <Stack gap="sm">
      <Select
        label={t.reason}
        required
        allowDeselect={false}
        data={options(words.states.refundReasons)}
        {...form.getInputProps('reason')}
      />
      <Checkbox label={t.notifyAll} {...form.getInputProps('notify_customers', { type: 'checkbox' })} />
      <Textarea
        label={t.message}
        description={t.messageHint}
        disabled={!form.values.notify_customers}
        autosize
        minRows={3}
        maxLength={2000}
        {...form.getInputProps('message')}
      />
    </Stack>
  </Section>
)
