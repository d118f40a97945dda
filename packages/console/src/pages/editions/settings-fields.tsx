import {
  Divider,
  Fieldset,
  JsonInput,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { get, type Schema } from '../../api'
import { ImageField } from '../../parts/image-field'
import { currencyOptions, type LanguageCode, languageOptions, nameLanguage } from '../../parts/names'
import { findRecordLink, linkTo } from '../../parts/record-link'
import { fill, loadWords } from '../../words'
import type { Settings } from './settings-values'

const t = await loadWords('editionSettings')

interface Props {
  form: UseFormReturnType<Settings>
  edition: Schema['EditionDetail']
}

type Name = keyof Settings

/** Each field has the name of its setting as id, to which failed checks lead. */
const bind = (form: Props['form'], name: Name) => ({ id: name, ...form.getInputProps(name) })

const useMeta = (organization: string): Schema['EditionMeta'] | undefined =>
  useQuery({
    ...get('/v1/editions/_meta', { params: { query: { organization_id: organization } } }),
    staleTime: 300_000,
  }).data

interface Option {
  value: string
  label: string
}

/** The choices as options. What is chosen stays one, although it is not offered any more. */
function toOptions(choices: readonly Schema['MetaChoice'][] = [], chosen: string | null = null): Option[] {
  const options = choices.map(({ value, label }) => ({ value, label }))
  const isOffered = chosen === null || options.some(({ value }) => value === chosen)
  return isOffered ? options : [...options, { value: chosen, label: chosen }]
}

const toWords = (labels: Readonly<Record<string, string>>): Option[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }))

export function GeneralFields({ form, edition }: Props) {
  const meta = useMeta(edition.organization.id)
  const { timezone, default_country_code: country } = form.values
  return (
    <>
      <TextInput
        label={t.name}
        description={fill(t.nameHint, { name: `${edition.event.name} ${form.values.name}` })}
        required
        maxLength={200}
        {...bind(form, 'name')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={t.start} type="datetime-local" {...bind(form, 'start_date')} />
        <TextInput label={t.end} type="datetime-local" {...bind(form, 'end_date')} />
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t.zone}
          description={t.zoneHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          searchable
          allowDeselect={false}
          data={toOptions(meta?.timezones, timezone)}
          {...bind(form, 'timezone')}
        />
        <Select
          label={t.country}
          description={t.countryHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          searchable
          allowDeselect={false}
          data={toOptions(meta?.country_codes, country)}
          {...bind(form, 'default_country_code')}
        />
        <Select
          label={t.defaultLanguage}
          allowDeselect={false}
          data={languageOptions}
          {...bind(form, 'default_language')}
        />
        <MultiSelect
          label={t.languages}
          description={t.languagesHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={languageOptions}
          {...bind(form, 'enabled_languages')}
        />
      </SimpleGrid>
    </>
  )
}

export function PaymentFields({ form, edition }: Props) {
  const meta = useMeta(edition.organization.id)
  const { currency, merchant_account_id, fee_rule_id } = form.values
  const accounts = meta?.merchant_accounts.map((account) =>
    account.supported_currencies.includes(currency)
      ? account
      : { ...account, label: `${account.label} (${fill(t.otherCurrency, { currency: currency.toUpperCase() })})` },
  )
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select label={t.currency} allowDeselect={false} data={currencyOptions} {...bind(form, 'currency')} />
        <Select
          label={t.feeRule}
          placeholder={t.noFeeRule}
          clearable
          data={toOptions(meta?.fee_rules, fee_rule_id)}
          {...bind(form, 'fee_rule_id')}
        />
      </SimpleGrid>
      <Select
        label={t.merchantAccount}
        description={t.merchantAccountHint}
        placeholder={t.noMerchantAccount}
        clearable
        data={toOptions(accounts, merchant_account_id)}
        {...bind(form, 'merchant_account_id')}
      />
      <JsonField
        form={form}
        name="merchant_account_extra_parameters"
        label={t.extraParameters}
        hint={t.extraParametersHint}
      />
      <Divider label={t.tax} labelPosition="left" />
      <Select label={t.taxType} allowDeselect={false} data={toWords(t.taxTypes)} {...bind(form, 'tax_type')} />
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <RateField form={form} name="default_price_tax_rate" label={t.priceTax} />
        <RateField form={form} name="default_deposit_tax_rate" label={t.depositTax} />
        <RateField form={form} name="default_packaging_deposit_tax_rate" label={t.packagingTax} />
      </SimpleGrid>
    </>
  )
}

interface FieldProps {
  form: Props['form']
  name: Name
  label: string
}

const RateField = ({ form, name, label }: FieldProps) => (
  <NumberInput label={label} min={0} max={100} suffix=" %" {...bind(form, name)} />
)

const JsonField = ({ form, name, label, hint }: FieldProps & { hint: string }) => (
  <JsonInput
    label={label}
    description={hint}
    placeholder="{}"
    validationError={t.invalidJson}
    formatOnBlur
    autosize
    minRows={2}
    maxRows={16}
    styles={{ input: { fontFamily: 'monospace' } }}
    {...bind(form, name)}
  />
)

export function MessageFields({ form, edition }: Props) {
  const { transaction_receipt_email_id: receipt, refund_confirmation_email_id: refund } = form.values
  const meta = useMeta(edition.organization.id)
  const place = { edition: edition.id, organization: edition.organization.id }
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput label={t.senderName} description={t.senderNameHint} {...bind(form, 'email_sender_name')} />
        <TextInput label={t.replyTo} description={t.replyToHint} type="email" {...bind(form, 'email_reply_to')} />
      </SimpleGrid>
      <TextInput
        label={t.senderAddress}
        description={t.senderAddressHint}
        type="email"
        {...bind(form, 'email_sender_address')}
      />
      <Text size="sm">
        <Link className="link" {...linkTo(`/organizations/${place.organization}/sender-domains`)}>
          {t.senderDomains}
        </Link>
      </Text>
      <Divider />
      <MessageChoice
        form={form}
        name="transaction_receipt_email_id"
        label={t.receipt}
        hint={t.receiptHint}
        none={t.noReceipt}
        options={toOptions(meta?.receipt_emails, receipt)}
        link={receipt === null ? null : findRecordLink(receipt, place)}
      />
      <MessageChoice
        form={form}
        name="refund_confirmation_email_id"
        label={t.refundEmail}
        none={t.noRefundEmail}
        options={toOptions(meta?.refund_confirmation_emails, refund)}
        link={refund === null ? null : findRecordLink(refund, place)}
      />
      <Divider label={t.sms} labelPosition="left" />
      <Select
        label={t.smsSender}
        allowDeselect={false}
        data={toWords(t.smsSenders)}
        {...bind(form, 'sms_sender_name')}
      />
    </>
  )
}

interface MessageProps extends FieldProps {
  hint?: string
  none: string
  options: Option[]
  link: ReturnType<typeof findRecordLink>
}

const MessageChoice = ({ form, name, label, hint, none, options, link }: MessageProps) => (
  <Stack gap={4}>
    <Select
      label={label}
      description={hint}
      placeholder={none}
      clearable
      searchable
      data={options}
      {...bind(form, name)}
    />
    {link && (
      <Text size="sm">
        <Link className="link" {...link}>
          {t.openMessage}
        </Link>
      </Text>
    )}
  </Stack>
)

export const WebsiteFields = ({ form, edition }: Props) => (
  <>
    <Text size="sm" c="dimmed">
      {t.metaTitleHint}
    </Text>
    {listLanguages(edition).map((language, index) => (
      <Fieldset key={language} legend={nameLanguage(language)}>
        <Stack gap="xs">
          <TextInput
            label={t.metaTitle}
            maxLength={200}
            {...form.getInputProps(`meta_title.${language}`)}
            {...bindTranslation(form, 'meta_title', language)}
            {...(index === 0 && { id: 'meta_title' })}
          />
          <Textarea
            label={t.metaDescription}
            autosize
            minRows={2}
            {...form.getInputProps(`meta_description.${language}`)}
            {...bindTranslation(form, 'meta_description', language)}
          />
        </Stack>
      </Fieldset>
    ))}
    <ImageField
      label={t.metaImage}
      id="meta_image_id"
      organization={edition.organization.id}
      edition={edition.id}
      value={form.values.meta_image_id}
      onChange={(id) => form.setFieldValue('meta_image_id', id)}
      error={form.errors['meta_image_id']}
    />
  </>
)

/** The default language first, since others fall back on it. */
const listLanguages = ({
  default_language,
  enabled_languages,
  meta_title,
}: Schema['EditionDetail']): LanguageCode[] => [
  ...new Set([default_language, ...enabled_languages, ...(Object.keys(meta_title) as LanguageCode[])]),
]

/** A translation in a field. An empty field removes it. */
const bindTranslation = (form: Props['form'], name: 'meta_title' | 'meta_description', language: LanguageCode) => ({
  value: form.values[name][language] ?? '',
  onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
    const { [language]: _, ...others } = form.values[name]
    form.setFieldValue(name, value === '' ? others : { ...others, [language]: value })
  },
})

export const OwnDataFields = ({ form }: Props) => (
  <>
    <JsonField form={form} name="metadata" label={t.metadata} hint={t.metadataHint} />
    <JsonField form={form} name="merchant_id" label={t.merchantId} hint={t.merchantIdHint} />
  </>
)
