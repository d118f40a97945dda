import {
  Anchor,
  Checkbox,
  MultiSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Tabs,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { ActionButton } from '../../parts/action-button'
import { CodeBlock } from '../../parts/code-block'
import { Copy } from '../../parts/copy'
import { EditForm, type Version } from '../../parts/edit-form'
import { FormDialog } from '../../parts/form-dialog'
import { Heading } from '../../parts/heading'
import { LanguageTabs } from '../../parts/language-tabs'
import { Loaded } from '../../parts/loaded'
import { languageOptions } from '../../parts/names'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { loadWords, words } from '../../words'
import { type Snippet, writeSnippet } from './snippets'
import { setText } from './texts'
import { useConsentOptions } from './use-consent-options'

type Data = Schema['SignupForm']

const route = getRouteApi('/shell/editions/$edition/signup-forms/$form')
const t = await loadWords('consents')

const read = ({
  name,
  title,
  text,
  languages,
  consent_ids,
  allowed_sites,
  redirect_url,
  mails_per_hour,
  is_active,
}: Data) => ({
  name,
  title: title as Record<string, string>,
  text: text as Record<string, string>,
  languages,
  consent_ids,
  allowed_sites,
  redirect_url: redirect_url ?? '',
  mails_per_hour,
  is_active,
})
type Values = ReturnType<typeof read>
type Form = UseFormReturnType<Values>

export function SignupForm() {
  const { edition, form: id } = route.useParams()
  const form = useQuery(getWithEtag('/v1/signup-forms/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={form}>
      {(version) => {
        const { data } = version
        return (
          <Stack>
            <Heading
              title={data.name}
              mark={
                <Status tone={data.is_active ? 'good' : 'none'} label={data.is_active ? t.formOpen : t.formClosed} />
              }
              facts={data.edition?.full_name ?? t.owners.organization}
              back={{ link: { to: '/editions/$edition/signup-forms', params: { edition } }, label: t.forms }}
              actions={<DeleteButton form={data} edition={edition} />}
            />
            <Address form={data} />
            <Editor version={version} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

function DeleteButton({ form, edition }: { form: Data; edition: string }) {
  const navigate = useNavigate()
  const [isOpen, dialog] = useDisclosure(false)
  return (
    <>
      <ActionButton operation="deleteSignupForm" variant="default" onClick={dialog.open}>
        {t.delete}
      </ActionButton>
      <FormDialog
        title={t.formDelete}
        isOpen={isOpen}
        close={dialog.close}
        isDangerous
        submitLabel={t.delete}
        done={t.formDeleted}
        initialValues={{}}
        send={(_, headers) => api.DELETE('/v1/signup-forms/{id}', { params: { path: { id: form.id } }, headers })}
        onSent={() => navigate({ to: '/editions/$edition/signup-forms', params: { edition } })}
      >
        {() => <Text size="sm">{t.formDeleteText}</Text>}
      </FormDialog>
    </>
  )
}

/** The public page, and how it gets onto a site. */
function Address({ form }: { form: Data }) {
  return (
    <Section title={t.publicAddress}>
      <Stack gap="sm">
        <Text size="sm" className="break" component="div">
          <Anchor href={form.public_url} target="_blank" rel="noreferrer" size="sm">
            {form.public_url}
          </Anchor>{' '}
          <Copy text={form.public_url} name={t.publicAddress} />
        </Text>
        <Tabs defaultValue="link" keepMounted={false}>
          <Tabs.List mb="xs" aria-label={t.onYourSite}>
            {(Object.keys(t.snippets) as Snippet[]).map((kind) => (
              <Tabs.Tab key={kind} value={kind}>
                {t.snippets[kind]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {(Object.keys(t.snippets) as Snippet[]).map((kind) => (
            <Tabs.Panel key={kind} value={kind}>
              <CodeBlock text={writeSnippet(kind, form, t.snippetSignUp)} name={t.snippets[kind]} />
            </Tabs.Panel>
          ))}
        </Tabs>
        {form.allowed_sites.length === 0 && (
          <Text size="sm" c="dimmed">
            {t.snippetSites}
          </Text>
        )}
      </Stack>
    </Section>
  )
}

const Editor = ({ version }: { version: Version<Data> }) => (
  <EditForm<Data, Values>
    latest={version}
    read={read}
    operation="updateSignupForm"
    labels={{
      name: words.common.name,
      title: t.titleField,
      text: t.text,
      languages: t.formLanguages,
      consent_ids: t.formConsents,
      allowed_sites: t.formSites,
      redirect_url: t.formRedirect,
      mails_per_hour: t.formLimit,
      is_active: t.formActive,
    }}
    save={({ redirect_url: redirect, ...others }, headers) =>
      api.PATCH('/v1/signup-forms/{id}', {
        params: { path: { id: version.data.id } },
        body: { ...others, ...(redirect !== undefined && { redirect_url: redirect || null }) },
        headers,
      })
    }
  >
    {(form) => (
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Texts form={form} />
        <Settings form={form} data={version.data} />
      </SimpleGrid>
    )}
  </EditForm>
)

function Texts({ form }: { form: Form }) {
  const field = (key: 'title' | 'text', language: string) => ({
    value: form.values[key][language] ?? '',
    error: form.errors[`${key}.${language}`],
    onChange: (event: { currentTarget: { value: string } }) =>
      form.setFieldValue(key, setText(form.values[key], language, event.currentTarget.value)),
  })
  return (
    <Section title={t.formTexts}>
      <Stack gap="sm">
        <MultiSelect
          label={t.formLanguages}
          description={t.formLanguagesHint}
          required
          data={languageOptions}
          {...form.getInputProps('languages')}
        />
        <LanguageTabs languages={form.values.languages} isMissing={(code) => !form.values.title[code]}>
          {(language) => (
            <Stack gap="sm">
              <TextInput label={t.titleField} maxLength={300} {...field('title', language)} />
              <Textarea label={t.text} autosize minRows={4} maxLength={10_000} {...field('text', language)} />
            </Stack>
          )}
        </LanguageTabs>
      </Stack>
    </Section>
  )
}

function Settings({ form, data }: { form: Form; data: Data }) {
  const consentOptions = useConsentOptions(data.organization.id)
  return (
    <Section title={t.formSettings}>
      <Stack gap="sm">
        <TextInput
          label={words.common.name}
          description={t.formNameHint}
          required
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <MultiSelect
          label={t.formConsents}
          description={t.formConsentsHint}
          required
          searchable
          data={consentOptions(data.edition?.id ?? null)}
          {...form.getInputProps('consent_ids')}
        />
        <TagsInput label={t.formSites} description={t.formSitesHint} {...form.getInputProps('allowed_sites')} />
        <TextInput
          label={t.formRedirect}
          description={t.formRedirectHint}
          type="url"
          maxLength={500}
          {...form.getInputProps('redirect_url')}
        />
        <NumberInput
          label={t.formLimit}
          description={t.formLimitHint}
          required
          min={1}
          allowDecimal={false}
          {...form.getInputProps('mails_per_hour')}
        />
        <Checkbox label={t.formActive} {...form.getInputProps('is_active', { type: 'checkbox' })} />
      </Stack>
    </Section>
  )
}
