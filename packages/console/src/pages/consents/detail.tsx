import { Checkbox, MultiSelect, NumberInput, Select, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { EditForm, type Version } from '../../parts/edit-form'
import { Facts } from '../../parts/facts'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { LanguageTabs } from '../../parts/language-tabs'
import { Loaded } from '../../parts/loaded'
import { Numbers } from '../../parts/numbers'
import { linkTo } from '../../parts/record-link'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { fill, formatCount, loadWords, plural, words } from '../../words'
import { listOptions } from './options'
import { setText } from './texts'

type ConsentData = Schema['Consent']

const route = getRouteApi('/shell/editions/$edition/consents/$consent')
const t = await loadWords('consents')

const read = ({
  name,
  title,
  text,
  link_url,
  type,
  channels,
  legal_basis,
  is_required,
  is_active,
  collect_at,
  position,
  expires_after_days,
  reconsent_on_change,
}: ConsentData) => ({
  name,
  title: title as Record<string, string>,
  text: text as Record<string, string>,
  link_url: link_url as Record<string, string>,
  type,
  channels,
  legal_basis,
  is_required,
  is_active,
  collect_at,
  position: position as number | '',
  expires_after_days: (expires_after_days ?? '') as number | '',
  reconsent_on_change,
})
type Values = ReturnType<typeof read>
type Form = UseFormReturnType<Values>

const wordingFields = ['title', 'text', 'link_url', 'legal_basis'] as const

export function Consent() {
  const { edition, consent: id } = route.useParams()
  const consent = useQuery(getWithEtag('/v1/consents/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={consent}>
      {(version) => {
        const { data } = version
        return (
          <Stack>
            <Heading
              title={data.name}
              mark={<Status tone={data.is_active ? 'good' : 'none'} label={data.is_active ? t.active : t.inactive} />}
              facts={`${t.types[data.type]} · ${data.edition?.full_name ?? t.owners.organization} · ${t.version} ${formatCount(data.version)}`}
              back={{ link: { to: '/editions/$edition/consents', params: { edition } }, label: t.title }}
              actions={<Actions consent={data} />}
            />
            <AnswerNumbers consent={data} />
            <Editor version={version} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

function AnswerNumbers({ consent: { stats } }: { consent: ConsentData }) {
  if (stats === null)
    return (
      <Text size="sm" c="dimmed">
        {t.statsHidden}
      </Text>
    )
  return (
    <Numbers
      figures={(['given', 'withdrawn', 'skipped', 'expired'] as const).map((key) => ({
        label: t.statuses[key],
        value: formatCount(stats[key]),
      }))}
    />
  )
}

function Actions({ consent }: { consent: ConsentData }) {
  const edition = useEdition()
  const navigate = useNavigate()
  const [isAsking, asking] = useDisclosure(false)
  const [isDeleting, deleting] = useDisclosure(false)
  return (
    <>
      <ActionButton operation="createSegment" variant="default" onClick={asking.open}>
        {t.whoGave}
      </ActionButton>
      <ActionButton
        operation="deleteConsent"
        variant="default"
        reason={consent.has_records ? t.deleteReason : null}
        onClick={deleting.open}
      >
        {t.delete}
      </ActionButton>
      <FormDialog
        title={t.whoGave}
        isOpen={isAsking}
        close={asking.close}
        submitLabel={words.common.create}
        initialValues={{
          name: fill(t.segmentDefault, { name: consent.name }),
          communication_channel: consent.channels[0] ?? ('email' as const),
        }}
        send={(values, headers) =>
          api.POST('/v1/segments', {
            body: {
              ...values,
              organization_id: consent.organization.id,
              edition_id: edition?.id ?? null,
              communication_type: consent.type === 'marketing' ? 'marketing' : 'transactional',
              expression: `has(consents.${consent.key}) && consents.${consent.key}.is_current`,
            },
            headers,
          })
        }
        onSent={({ data }) => navigate(linkTo(`/editions/${edition?.id}/segments/${data.id}`))}
      >
        {(form) => (
          <>
            <Text size="sm">{t.whoGaveHint}</Text>
            <TextInput label={t.segmentName} required data-autofocus maxLength={255} {...form.getInputProps('name')} />
            <Select
              label={t.channel}
              allowDeselect={false}
              data={listOptions(t.channelNames)}
              {...form.getInputProps('communication_channel')}
            />
          </>
        )}
      </FormDialog>
      <FormDialog
        title={t.deleteTitle}
        isOpen={isDeleting}
        close={deleting.close}
        isDangerous
        submitLabel={t.delete}
        done={t.deleted}
        initialValues={{}}
        send={(_, headers) => api.DELETE('/v1/consents/{id}', { params: { path: { id: consent.id } }, headers })}
        onSent={() => navigate({ to: '/editions/$edition/consents', params: { edition: edition?.id ?? '' } })}
      >
        {() => <Text size="sm">{t.deleteText}</Text>}
      </FormDialog>
    </>
  )
}

function Editor({ version }: { version: Version<ConsentData> }) {
  const { data } = version
  return (
    <EditForm<ConsentData, Values>
      latest={version}
      read={read}
      operation="updateConsent"
      labels={{ name: t.name, title: t.titleField, text: t.text, link_url: t.link, is_active: t.isActive }}
      save={(changes, headers) => {
        const { position, expires_after_days: days, ...others } = changes
        return api.PATCH('/v1/consents/{id}', {
          params: { path: { id: data.id } },
          body: {
            ...others,
            ...(position !== undefined && { position: position === '' ? 0 : position }),
            ...(days !== undefined && { expires_after_days: days === '' ? null : days }),
          },
          headers,
        })
      }}
    >
      {(form) => (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          <Wording form={form} consent={data} />
          <Stack>
            <Rules form={form} />
            <Section title={t.version}>
              <Facts
                facts={[
                  [t.key, <CopyText key="key" text={data.key} />],
                  [t.version, formatCount(data.version)],
                  [t.hash, <CopyText key="hash" text={data.content_hash} />],
                  [words.common.created, <Time key="created" at={data.created} />],
                  [words.common.modified, <Time key="modified" at={data.modified} />],
                  ['Id', <CopyText key="id" text={data.id} />],
                ]}
              />
            </Section>
          </Stack>
        </SimpleGrid>
      )}
    </EditForm>
  )
}

const CopyText = ({ text }: { text: string }) => (
  <>
    {text} <Copy text={text} name={text} />
  </>
)

function Wording({ form, consent }: { form: Form; consent: ConsentData }) {
  const edition = useEdition()
  const before = read(consent)
  const isNew = wordingFields.some((key) => JSON.stringify(form.values[key]) !== JSON.stringify(before[key]))
  const field = (key: 'title' | 'text' | 'link_url', language: string) => ({
    value: form.values[key][language] ?? '',
    error: form.errors[`${key}.${language}`],
    onChange: (event: { currentTarget: { value: string } }) =>
      form.setFieldValue(key, setText(form.values[key], language, event.currentTarget.value) as never),
  })
  return (
    <Section title={t.wording} hint={t.wordingHint}>
      <LanguageTabs initial={edition?.default_language} isMissing={(code) => !form.values.text[code]}>
        {(language) => (
          <Stack gap="sm">
            <TextInput label={t.titleField} maxLength={300} {...field('title', language)} />
            <Textarea label={t.text} autosize minRows={4} maxLength={10_000} {...field('text', language)} />
            <TextInput label={t.link} type="url" maxLength={500} {...field('link_url', language)} />
          </Stack>
        )}
      </LanguageTabs>
      {isNew && (
        <Text size="sm" mt="sm" role="status">
          {fill(t.newVersion, { version: formatCount(consent.version + 1) })}{' '}
          {form.values.reconsent_on_change &&
            consent.stats !== null &&
            fill(t.newVersionAsks, { people: plural(consent.stats.given, t.people) })}
        </Text>
      )}
    </Section>
  )
}

const Rules = ({ form }: { form: Form }) => (
  <Section title={t.rules}>
    <Stack gap="sm">
      <TextInput label={t.name} required maxLength={200} {...form.getInputProps('name')} />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Select
          label={words.common.type}
          allowDeselect={false}
          data={listOptions(t.types)}
          {...form.getInputProps('type')}
        />
        <Select
          label={t.legalBasis}
          allowDeselect={false}
          data={listOptions(t.legalBases)}
          {...form.getInputProps('legal_basis')}
        />
        <MultiSelect label={t.channels} data={listOptions(t.channelNames)} {...form.getInputProps('channels')} />
        <MultiSelect label={t.collectAt} data={listOptions(t.collectPlaces)} {...form.getInputProps('collect_at')} />
        <NumberInput
          label={t.expires}
          description={t.expiresHint}
          min={1}
          allowDecimal={false}
          {...form.getInputProps('expires_after_days')}
        />
        <NumberInput label={t.position} min={0} allowDecimal={false} {...form.getInputProps('position')} />
      </SimpleGrid>
      <Checkbox
        label={t.isActive}
        description={t.isActiveHint}
        {...form.getInputProps('is_active', { type: 'checkbox' })}
      />
      <Checkbox
        label={t.isRequired}
        description={t.isRequiredHint}
        {...form.getInputProps('is_required', { type: 'checkbox' })}
      />
      <Checkbox
        label={t.reconsent}
        description={t.reconsentHint}
        {...form.getInputProps('reconsent_on_change', { type: 'checkbox' })}
      />
    </Stack>
  </Section>
)
