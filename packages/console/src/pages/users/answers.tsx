import { Alert, Box, Drawer, Group, Paper, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, get, getList, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { CodeBlock } from '../../parts/code-block'
import { toInstant } from '../../parts/days'
import { Empty } from '../../parts/empty'
import { Facts } from '../../parts/facts'
import { FormDialog } from '../../parts/form-dialog'
import { Loaded } from '../../parts/loaded'
import { type LanguageCode, languageOptions, nameLanguage } from '../../parts/names'
import { Pages } from '../../parts/record-list'
import { ScrollTable } from '../../parts/scroll-table'
import { EmailStatus } from '../../parts/states'
import { Status, type Tone } from '../../parts/status'
import { Time } from '../../parts/time'
import { loadWords, plural, words } from '../../words'
import type { ListProps } from './lists'

const usersWords = await loadWords('users')

type Answer = Schema['UserConsent']
type Action = Answer['allowed_actions'][number]

const t = await loadWords('consents')
const pageSize = 50

const tones: Record<Answer['status'], Tone> = {
  none: 'none',
  pending: 'wait',
  given: 'good',
  skipped: 'none',
  withdrawn: 'bad',
  expired: 'act',
}
const operations = { give: 'giveConsent', withdraw: 'withdrawConsent', skip: 'skipConsent' } as const

/** The consents of a customer, each with the latest answer and its proof. */
export function Answers({ customer, edition, search }: ListProps) {
  const { page, cursor } = search
  const query = { edition_id: edition, page, cursor, page_size: pageSize }
  const answers = useQuery(getList('/v1/user/{id}/consents', { params: { path: { id: customer }, query } }))
  return (
    <Loaded query={answers} heights={[120, 120]}>
      {(data) =>
        data.count === 0 ? (
          <Empty title={usersWords.noConsents} />
        ) : (
          <Stack gap="sm">
            <Text size="sm" c="dimmed" aria-live="polite">
              {plural(data.count, usersWords.consentCount)}
            </Text>
            {data.results.map((answer) => (
              <AnswerCard key={answer.id} answer={answer} />
            ))}
            <Pages data={data} page={page ?? 1} pageSize={pageSize} />
          </Stack>
        )
      }
    </Loaded>
  )
}

/** Says whether the answer counts, where its status alone does not. */
function readEffect({ status, is_current, blocked_by }: Answer): string | null {
  if (status !== 'given') return null
  if (blocked_by !== null) return `${t.blocked}: ${t.suppressionReasons[blocked_by]}`
  return is_current ? null : t.outdated
}

function AnswerCard({ answer }: { answer: Answer }) {
  const [open, setOpen] = useState<Action | 'proof' | null>(null)
  const { record, confirmation_email: email } = answer
  const effect = readEffect(answer)
  const close = () => setOpen(null)
  return (
    <Paper withBorder p="sm" component="section" aria-label={answer.name}>
      <Group justify="space-between" align="start" gap="sm">
        <Stack gap={4} miw={0} flex="1 1 260px">
          <Group gap="xs">
            <Text fw={600} className="break">
              {answer.name}
            </Text>
            <Status tone={effect === null ? tones[answer.status] : 'act'} label={t.statuses[answer.status]} />
          </Group>
          {effect && <Text size="sm">{effect}</Text>}
          <Text size="sm" c="dimmed" component="div" className="break">
            {t.types[answer.type]} · {answer.edition_id === null ? t.owners.organization : t.owners.edition}
            {record && (
              <>
                {' · '}
                <Time at={record.occurred_at} /> · {t.methods[record.method]}
                {record.source !== null && ` · ${record.source}`}
              </>
            )}
          </Text>
          {email && (
            <Group gap="xs">
              <Text size="sm">{t.confirmation}</Text>
              <EmailStatus status={email.status} />
              {email.waiting_reason && <Text size="sm">{email.waiting_reason}</Text>}
            </Group>
          )}
        </Stack>
        <Group gap="xs">
          {answer.allowed_actions.map((action) => (
            <ActionButton
              key={action}
              size="xs"
              variant="default"
              operation={operations[action]}
              onClick={() => setOpen(action)}
            >
              {t[action]}
            </ActionButton>
          ))}
          {record && (
            <ActionButton size="xs" variant="default" operation="getConsentProof" onClick={() => setOpen('proof')}>
              {t.proof}
            </ActionButton>
          )}
        </Group>
      </Group>
      {open !== null && open !== 'proof' && <AnswerDialog answer={answer} action={open} close={close} />}
      <Drawer opened={open === 'proof'} onClose={close} position="right" size="lg" title={t.proofTitle}>
        <Proof answer={answer} />
      </Drawer>
    </Paper>
  )
}

interface DialogProps {
  answer: Answer
  action: Action
  close: () => void
}

const titles = { give: t.giveTitle, withdraw: t.withdrawTitle, skip: t.skipTitle } as const
type How = keyof typeof t.hows

function AnswerDialog({ answer, action, close }: DialogProps) {
  const edition = useEdition()
  const hows = (Object.keys(t.hows) as How[]).filter((how) => action === 'give' || how !== 'double_opt_in')
  const params = { path: { id: answer.user_id, consent_id: answer.id } }
  return (
    <FormDialog
      title={`${titles[action]}: ${answer.name}`}
      isOpen
      close={close}
      submitLabel={t[action]}
      isDangerous={action === 'withdraw'}
      done={t.recorded}
      initialValues={{
        method: 'admin' as How,
        source: '',
        language: edition?.default_language ?? 'en',
        occurred_at: '',
      }}
      send={({ occurred_at, method, ...others }, headers) => {
        const at = occurred_at === '' ? {} : { occurred_at: toInstant(occurred_at, edition?.timezone ?? 'UTC') }
        const body = { ...others, ...at, method: method === 'double_opt_in' ? ('admin' as const) : method }
        if (action === 'give')
          return api.POST('/v1/user/{id}/consents/{consent_id}/give', {
            params,
            body: { ...others, ...at, method },
            headers,
          })
        return action === 'skip'
          ? api.POST('/v1/user/{id}/consents/{consent_id}/skip', { params, body, headers })
          : api.POST('/v1/user/{id}/consents/{consent_id}/withdraw', { params, body, headers })
      }}
    >
      {(form) => (
        <>
          <Text size="sm">{t.giveText}</Text>
          <Select
            label={t.how}
            allowDeselect={false}
            data={hows.map((value) => ({ value, label: t.hows[value] }))}
            {...form.getInputProps('method')}
          />
          <TextInput
            label={t.source}
            description={t.sourceHint}
            required
            data-autofocus
            maxLength={64}
            {...form.getInputProps('source')}
          />
          <Select label={t.language} allowDeselect={false} data={languageOptions} {...form.getInputProps('language')} />
          <TextInput
            type="datetime-local"
            label={t.when}
            description={t.whenHint}
            {...form.getInputProps('occurred_at')}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Shows the proof of the answer: the wording that the person saw, the chain of records, and the whole document. */
function Proof({ answer }: { answer: Answer }) {
  const path = { id: answer.user_id, consent_id: answer.id }
  const proof = useQuery(get('/v1/user/{id}/consents/{consent_id}/proof', { params: { path } }))
  return (
    <Loaded query={proof} heights={[60, 160, 200]}>
      {(data) => (
        <Stack>
          <Alert
            color={data.is_intact ? 'teal' : 'red'}
            variant="outline"
            title={data.is_intact ? t.intact : t.broken}
          />
          <Facts
            facts={[
              [words.common.status, t.statuses[data.record.status]],
              [t.when, <Time key="when" at={data.record.occurred_at} />],
              [t.how, t.methods[data.record.method]],
              [t.source, data.record.source],
              [t.language, nameLanguage(data.wording.language as LanguageCode)],
              [t.version, String(data.wording.version)],
              [t.titleField, data.wording.title],
              [t.text, data.wording.text],
              [t.legalBasis, t.legalBases[data.wording.legal_basis]],
              [t.evidence, data.record.evidence && JSON.stringify(data.record.evidence)],
            ]}
          />
          <Box>
            <Text fw={600} size="sm">
              {t.history}
            </Text>
            <ScrollTable label={t.history} width={420}>
              <Table.Tbody>
                {data.chain.map(({ record_id, number, status, occurred_at, consent_version }) => (
                  <Table.Tr key={record_id}>
                    <Table.Td>{number}</Table.Td>
                    <Table.Td>{t.statuses[status]}</Table.Td>
                    <Table.Td>
                      {t.version} {consent_version}
                    </Table.Td>
                    <Table.Td>
                      <Time at={occurred_at} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </ScrollTable>
          </Box>
          <CodeBlock text={JSON.stringify(data, null, 2)} name={t.proofDocument} height={300} />
        </Stack>
      )}
    </Loaded>
  )
}
