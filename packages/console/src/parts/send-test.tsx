import { Checkbox, Group, Stack, Table, TagsInput, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { get, type Schema } from '../api'
import { useCaller, useEdition, useRefusalReason } from '../caller'
import { type SendHeaders, useSentForm } from '../form'
import type { Operation } from '../generated/roles'
import { loadWords, plural } from '../words'
import { ActionButton } from './action-button'
import { CustomerSelect } from './customer-select'
import { languageCodes, nameLanguage } from './names'
import { Refusal } from './refusal'
import { ScrollTable } from './scroll-table'
import { EmailStatus } from './states'

const emailMessagesWords = await loadWords('emailMessages')

const t = emailMessagesWords.test
const maxRecipients = 10

interface Props {
  operation: Operation
  /** The edition of the message. Null for a template of the organisation. */
  edition: string | null
  organization: string
  /** Tells why no test is possible now. */
  reason?: string | null
  send: (body: Schema['SendTestMessage'], headers: SendHeaders) => Promise<Schema['TestMessages']>
}

/** Sends a message to colleagues, and shows what became of each test. */
export function SendTest({ operation, edition, organization, reason, send }: Props) {
  const person = useCaller()
  const languages = useEdition()?.enabled_languages ?? languageCodes
  const main = useEdition()?.default_language ?? 'en'
  const members = useMemberAddresses(organization)
  const { form, mutation, submit, shown } = useSentForm({
    initialValues: {
      to: person?.email ? [person.email] : [],
      languages: [main] as string[],
      user_id: null as string | null,
    },
    send: (values, headers) => send(values as Schema['SendTestMessage'], headers),
    fieldOf: (pointer) => pointer.split('/')[1] ?? '',
  })
  const count = form.values.to.length * form.values.languages.length
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TagsInput
          label={t.to}
          description={t.toHint}
          data={members}
          splitChars={[',', ' ', ';']}
          maxTags={maxRecipients}
          {...form.getInputProps('to')}
        />
        <Checkbox.Group label={t.languages} {...form.getInputProps('languages')}>
          <Group mt={6} gap="md">
            {languages.map((code) => (
              <Checkbox key={code} value={code} label={nameLanguage(code)} />
            ))}
          </Group>
        </Checkbox.Group>
        <CustomerSelect
          label={t.customer}
          description={t.customerHint}
          placeholder={emailMessagesWords.example}
          edition={edition ?? undefined}
          organization={organization}
          value={form.values.user_id}
          error={form.errors['user_id']}
          onChange={(id) => form.setFieldValue('user_id', id)}
        />
        {mutation.error && <Refusal error={mutation.error} shown={shown} />}
        <Group justify="end">
          <ActionButton
            type="submit"
            operation={operation}
            reason={reason ?? (count === 0 ? t.needsAddress : null)}
            loading={mutation.isPending}
          >
            {plural(Math.max(1, count), t.send)}
          </ActionButton>
        </Group>
        {mutation.data && <Results tests={mutation.data} />}
      </Stack>
    </form>
  )
}

/** The addresses of colleagues, for those who may list them. */
function useMemberAddresses(organization: string): string[] {
  const refusal = useRefusalReason('listOrganizationMembers')
  const init = { params: { path: { id: organization }, query: { page_size: 200 } } }
  const members = useQuery({
    ...get('/v1/organizations/{id}/members', init),
    enabled: organization !== '' && refusal === null,
  })
  return [...new Set(members.data?.results.map(({ email }) => email))]
}

const Results = ({ tests: { emails, remaining } }: { tests: Schema['TestMessages'] }) => (
  <Stack gap={4} aria-live="polite">
    <ScrollTable label={t.result} width={420}>
      <Table.Tbody>
        {emails.map((email) => (
          <Table.Tr key={`${email.recipient} ${email.language}`}>
            <Table.Td className="break">{email.recipient}</Table.Td>
            <Table.Td>
              {nameLanguage(email.language)}
              {email.text_language !== null && email.text_language !== email.language && (
                <Text size="xs" c="dimmed">
                  {t.textIn.replace('{language}', nameLanguage(email.text_language))}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <EmailStatus status={email.status} />
              {email.error_code !== null && (
                <Text size="xs" c="dimmed" className="break">
                  {t.errors[email.error_code as keyof typeof t.errors] ?? email.error_code} {email.error_detail}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ScrollTable>
    <Text size="xs" c="dimmed">
      {plural(remaining, t.left)}
    </Text>
  </Stack>
)
