import { Alert, Checkbox, Group, Select, Stack, Table, TagsInput, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, getList, type Schema } from '../../api'
import { useCaller, useEdition, useIsAllowed } from '../../caller'
import { useSentForm } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { Refusal } from '../../parts/refusal'
import { ScrollTable } from '../../parts/scroll-table'
import { Status, type Tone } from '../../parts/status'
import { formatLanguage, loadWords, plural, words } from '../../words'
import type { CampaignDetail } from './types'

const t = await loadWords('campaigns')

type TestMessages = Schema['TestMessages']
type TestEmail = TestMessages['emails'][number]

/** Sends the message to colleagues before customers get it. */
export function TestStep({ campaign }: { campaign: CampaignDetail }) {
  if (campaign.channel === 'sms')
    return (
      <Alert color="blue" variant="outline">
        {t.noSmsTest}
      </Alert>
    )
  return <TestForm campaign={campaign} />
}

function TestForm({ campaign }: { campaign: CampaignDetail }) {
  const edition = useEdition()
  const person = useCaller()
  const members = useMemberAddresses(edition?.organization.id)
  const { form, mutation, submit, shown } = useSentForm({
    initialValues: {
      to: person ? [person.email] : [],
      languages: edition ? [edition.default_language as string] : [],
      user_id: null as string | null,
    },
    send: async (values, headers) => {
      const body = values as Schema['SendTestMessage']
      return (await api.POST('/v1/campaigns/{id}/send-test', { params: { path: { id: campaign.id } }, body, headers }))
        .data
    },
    fieldOf: (pointer) => pointer.split('/')[1] ?? '',
  })
  if (!edition) return null
  const { to, languages } = form.values
  const count = to.length * languages.length
  const missing = campaign.email_message_id === null ? t.faults.required : null
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TagsInput
          label={t.testTo}
          description={t.testToHint}
          data={members}
          splitChars={[',', ' ', ';']}
          maxTags={10}
          clearable
          {...form.getInputProps('to')}
        />
        <Checkbox.Group label={t.testLanguages} {...form.getInputProps('languages')}>
          <Group mt={6} gap="md">
            {edition.enabled_languages.map((code) => (
              <Checkbox key={code} value={code} label={formatLanguage(code)} />
            ))}
          </Group>
        </Checkbox.Group>
        <CustomerSelect value={form.values.user_id} onChange={(id) => form.setFieldValue('user_id', id)} />
        {mutation.error && <Refusal error={mutation.error} shown={shown} />}
        <SubmitTest count={count} missing={missing} isPending={mutation.isPending} submit={() => submit()} />
        {mutation.data && <TestResult result={mutation.data} />}
      </Stack>
    </form>
  )
}

interface SubmitProps {
  count: number
  missing: string | null
  isPending: boolean
  submit: () => void
}

const SubmitTest = ({ count, missing, isPending, submit }: SubmitProps) => (
  <Group>
    <ActionButton
      operation="sendTestCampaign"
      reason={missing ?? (count === 0 ? t.testNeeds : null)}
      loading={isPending}
      onClick={submit}
    >
      {plural(Math.max(1, count), t.sendTests)}
    </ActionButton>
  </Group>
)

/** Addresses of colleagues, for those who may list them. */
function useMemberAddresses(organization: string | undefined): string[] {
  const isAllowed = useIsAllowed('listOrganizationMembers')
  const list = useQuery({
    ...getList('/v1/organizations/{id}/members', {
      params: { path: { id: organization ?? '' }, query: { page_size: 200 } },
    }),
    enabled: organization !== undefined && isAllowed,
  })
  return [...new Set(list.data?.results.map(({ email }) => email) ?? [])]
}

function CustomerSelect({ value, onChange }: { value: string | null; onChange: (id: string | null) => void }) {
  const edition = useEdition()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 250)
  const query = { edition_id: edition?.id ?? '', page_size: 20, ...(search === '' ? {} : { search }) }
  const list = useQuery({
    ...getList('/v1/user', { params: { query } }),
    enabled: edition !== undefined && value === null,
  })
  const [chosen, setChosen] = useState<{ value: string; label: string } | null>(null)
  const options = (list.data?.results ?? []).map(({ id, first_name, last_name, email }) => ({
    value: id,
    label: [`${first_name} ${last_name}`.trim(), email].filter(Boolean).join(' · '),
  }))
  return (
    <Select
      label={t.testCustomer}
      description={t.testCustomerHint}
      placeholder={t.sampleValues}
      searchable
      clearable
      filter={({ options: all }) => all}
      nothingFoundMessage={words.common.noMatch}
      value={value}
      onSearchChange={setText}
      data={
        chosen && value === chosen.value && !options.some((one) => one.value === value) ? [chosen, ...options] : options
      }
      onChange={(id, option) => {
        setChosen(option && { value: option.value, label: option.label })
        onChange(id)
      }}
    />
  )
}

const tones: Record<TestEmail['status'], Tone> = { pending: 'wait', failed: 'bad', sent: 'good' }

/** What became of each message, and why one was not sent. */
const TestResult = ({ result: { emails, remaining } }: { result: TestMessages }) => (
  <Stack gap={4} aria-live="polite">
    <ScrollTable label={t.testResult} width={420}>
      <Table.Tbody>
        {emails.map((email) => (
          <Table.Tr key={`${email.recipient} ${email.language}`}>
            <Table.Td className="break">{email.recipient}</Table.Td>
            <Table.Td>
              {formatLanguage(email.language)}
              {email.text_language !== null &&
                email.text_language !== email.language &&
                ` · ${t.readsText.replace('#', () => formatLanguage(email.text_language ?? ''))}`}
            </Table.Td>
            <Table.Td>
              <Status tone={tones[email.status]} label={t.testStatuses[email.status]} />
              {(email.error_code !== null || email.waiting_reason !== null) && (
                <Text size="xs" c="dimmed" className="break">
                  {t.testErrors[email.error_code as keyof typeof t.testErrors] ?? email.error_code} {email.error_detail}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
    <Text size="xs" c="dimmed">
      {plural(remaining, t.testsLeft)}
    </Text>
  </Stack>
)
