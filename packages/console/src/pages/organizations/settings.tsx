import { Grid, NumberInput, Select, Stack, Switch, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { useCaller } from '../../caller'
import { EditForm } from '../../parts/edit-form'
import { Heading } from '../../parts/heading'
import { ImageField } from '../../parts/image-field'
import { Loaded } from '../../parts/loaded'
import { type CurrencyCode, currencyOptions } from '../../parts/names'
import { Section } from '../../parts/section'
import { loadWords, words } from '../../words'

const organizationsWords = await loadWords('organizations')

const route = getRouteApi('/shell/organizations/$organization/')
const t = organizationsWords.settings

type Organization = Schema['Organization']

/** An amount in a form. Empty means null. */
type Amount = number | string
const readAmount = (amount: Amount): number | null => (amount === '' ? null : Number(amount))

const read = (data: Organization) => ({
  name: data.name,
  slug: data.slug,
  avatar_file_id: data.avatar_file_id,
  refund_policy: {
    four_eyes: data.refund_policy.four_eyes,
    manager_limit: (data.refund_policy.manager_limit ?? '') as Amount,
    auto_approve_below: (data.refund_policy.auto_approve_below ?? '') as Amount,
  },
  requires_campaign_approval: data.requires_campaign_approval,
  sms_price: { amount: (data.sms_price?.amount ?? '') as Amount, currency: data.sms_price?.currency ?? 'dkk' },
})
type Values = ReturnType<typeof read>

function toBody({ refund_policy, sms_price, ...others }: Partial<Values>) {
  const amount = sms_price && readAmount(sms_price.amount)
  return {
    ...others,
    ...(refund_policy && {
      refund_policy: {
        four_eyes: refund_policy.four_eyes,
        manager_limit: readAmount(refund_policy.manager_limit),
        auto_approve_below: readAmount(refund_policy.auto_approve_below),
      },
    }),
    ...(sms_price && {
      sms_price: amount === null || amount === undefined ? null : { amount, currency: sms_price.currency },
    }),
  }
}

export function OrganizationSettings() {
  const { organization: id } = route.useParams()
  const organization = useQuery(getWithEtag('/v1/organizations/{id}', { params: { path: { id } } }))
  return (
    <Stack gap="md" maw={820}>
      <Heading title={organization.data?.data.name ?? t.title} />
      <Loaded query={organization}>
        {(latest) => (
          <EditForm
            key={id}
            latest={latest}
            read={read}
            operation="updateOrganization"
            labels={{ name: t.name, slug: t.slug, refund_policy: t.refunds, sms_price: t.smsPrice }}
            save={(changes, headers) =>
              api.PATCH('/v1/organizations/{id}', { params: { path: { id } }, body: toBody(changes), headers })
            }
          >
            {(form) => <Fields form={form} organization={latest.data} />}
          </EditForm>
        )}
      </Loaded>
    </Stack>
  )
}

function Fields({ form, organization }: { form: UseFormReturnType<Values>; organization: Organization }) {
  const person = useCaller()
  return (
    <>
      <Section title={words.common.organization}>
        <Grid>
          <Grid.Col span={{ base: 12, sm: 6 }}>
            <TextInput label={t.name} required maxLength={200} {...form.getInputProps('name')} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, sm: 6 }}>
            <TextInput
              label={t.slug}
              description={t.slugHint}
              readOnly={!person?.is_superuser}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              {...form.getInputProps('slug')}
            />
          </Grid.Col>
          <Grid.Col span={12}>
            <ImageField
              label={t.avatar}
              organization={organization.id}

              value={form.values.avatar_file_id}
              onChange={(id) => form.setFieldValue('avatar_file_id', id)}
              error={form.errors['avatar_file_id']}
            />
          </Grid.Col>
        </Grid>
      </Section>
      <RefundFields form={form} />
      <CampaignFields form={form} />
    </>
  )
}

const RefundFields = ({ form }: { form: UseFormReturnType<Values> }) => (
  <Section title={t.refunds}>
    <Stack gap="sm">
      <Switch
        label={t.fourEyes}
        description={t.fourEyesHint}
        {...form.getInputProps('refund_policy.four_eyes', { type: 'checkbox' })}
      />
      <Grid>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <NumberInput
            label={t.managerLimit}
            description={t.managerLimitHint}
            min={0}
            decimalScale={2}
            thousandSeparator=" "
            {...form.getInputProps('refund_policy.manager_limit')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <NumberInput
            label={t.autoApprove}
            description={t.autoApproveHint}
            min={0}
            decimalScale={2}
            thousandSeparator=" "
            {...form.getInputProps('refund_policy.auto_approve_below')}
          />
        </Grid.Col>
      </Grid>
    </Stack>
  </Section>
)

const CampaignFields = ({ form }: { form: UseFormReturnType<Values> }) => (
  <Section title={t.campaigns}>
    <Stack gap="sm">
      <Switch
        label={t.approval}
        description={t.approvalHint}
        {...form.getInputProps('requires_campaign_approval', { type: 'checkbox' })}
      />
      <Grid>
        <Grid.Col span={{ base: 7, sm: 6 }}>
          <NumberInput
            label={t.smsPrice}
            description={t.smsPriceHint}
            min={0}
            decimalScale={4}
            {...form.getInputProps('sms_price.amount')}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 5, sm: 6 }} display="flex">
          <Select
            mt="auto"
            w="100%"
            label={t.currency}
            data={currencyOptions}
            allowDeselect={false}
            {...form.getInputProps('sms_price.currency')}
            onChange={(code) => form.setFieldValue('sms_price.currency', code as CurrencyCode)}
          />
        </Grid.Col>
      </Grid>
    </Stack>
  </Section>
)
