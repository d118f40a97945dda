import { Alert, Button, Group, Menu, Select, Stack, Tabs, Text, Textarea } from '@mantine/core'
import { IconBraces } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { get, getList } from '../../api'
import { useEdition } from '../../caller'
import { nameLanguage } from '../../parts/names'
import { formatCount, loadWords, plural, words } from '../../words'
import type { DraftEdit } from './draft'
import { MessagePreview } from './message-preview'
import type { CampaignDetail } from './types'

const t = await loadWords('campaigns')

interface Props {
  campaign: CampaignDetail
  edit: DraftEdit
}

/** Edits the texts of the campaign. */
export const ContentStep = ({ campaign, edit }: Props) =>
  edit.values.channel === 'email' ? <EmailContent edit={edit} /> : <SmsContent campaign={campaign} edit={edit} />

function EmailContent({ edit: { values, set } }: { edit: DraftEdit }) {
  const edition = useEdition()
  const id = values.email_message_id
  const query = {
    organization_id: edition?.organization.id ?? '',
    type: 'campaign' as const,
    ordering: ['title' as const],
    page_size: 500,
  }
  const list = useQuery({ ...getList('/v1/email-messages', { params: { query } }), enabled: edition !== undefined })
  const groups = Map.groupBy(list.data?.results ?? [], (message) =>
    message.edition === null
      ? t.messageScopes[message.scope]
      : message.edition.id === edition?.id
        ? t.messageScopes.edition
        : message.edition.full_name,
  )
  return (
    <Stack gap="sm">
      <Select
        label={t.message}
        placeholder={t.chooseMessage}
        searchable
        clearable
        error={list.error?.message}
        nothingFoundMessage={t.noMessage}
        value={id}
        onChange={(next) => set({ email_message_id: next })}
        data={[...groups].map(([group, messages]) => ({
          group,
          items: messages.map((message) => ({
            value: message.id,
            label: message.title,
            disabled: message.edition !== null && message.edition.id !== edition?.id,
          })),
        }))}
      />
      <Group gap="md" fz="sm">
        {id !== null && (
          <Link
            className="link"
            to="/editions/$edition/email-messages/$message"
            params={{ edition: edition?.id ?? '', message: id }}
          >
            {t.editMessage}
          </Link>
        )}
        <Link className="link" to="/editions/$edition/email-messages" params={{ edition: edition?.id ?? '' }}>
          {t.allMessages}
        </Link>
      </Group>
      <Sender />
      {id === null ? (
        <Text size="sm" c="dimmed">
          {t.messageHint}
        </Text>
      ) : (
        <MessagePreview id={id} />
      )}
    </Stack>
  )
}

/** From whom the message comes, as the edition has it. */
function Sender() {
  const edition = useEdition()
  if (!edition) return null
  const { email_sender_name: name, email_sender_address: address, email_reply_to: reply } = edition
  const sender = address === null ? t.defaultSender : `${name ?? edition.full_name} <${address}>`
  return (
    <Text size="sm" className="break">
      <Text component="span" size="sm" c="dimmed">
        {t.from}
      </Text>{' '}
      {sender}
      {reply !== null && ` · ${t.replyTo} ${reply}`}{' '}
      <Link className="link" to="/editions/$edition/settings" params={{ edition: edition.id }}>
        {words.common.edit}
      </Link>
    </Text>
  )
}

/** The text in each language of the edition. The default language stands in where a text is missing. */
function SmsContent({ campaign, edit: { values, set } }: Props) {
  const edition = useEdition()
  if (!edition) return null
  const languages = [...new Set([edition.default_language, ...edition.enabled_languages])]
  const bodies = values.sms_body
  return (
    <Stack gap="sm">
      <Text size="sm">
        <Text component="span" size="sm" c="dimmed">
          {t.from}
        </Text>{' '}
        {edition.sms_sender_name === 'Unset' ? t.smsSenderUnset : edition.sms_sender_name}{' '}
        <Link className="link" to="/editions/$edition/settings" params={{ edition: edition.id }}>
          {words.common.edit}
        </Link>
      </Text>
      <Tabs defaultValue={edition.default_language} variant="outline">
        <Tabs.List>
          {languages.map((language) => (
            <Tabs.Tab key={language} value={language} px="xs">
              {nameLanguage(language)}
              {(bodies[language] ?? '').trim() === '' && (
                <Text component="span" size="xs" c="dimmed">
                  {' '}
                  · {t.emptyText}
                </Text>
              )}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {languages.map((language) => (
          <Tabs.Panel key={language} value={language} pt="sm">
            <SmsText
              language={language}
              defaultLanguage={edition.default_language}
              value={bodies[language] ?? ''}
              onChange={(value) => {
                const { [language]: _, ...others } = bodies
                set({ sms_body: value === '' ? others : { ...others, [language]: value } })
              }}
            />
            <SmsSize size={campaign.sms_sizes[language]} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

interface TextProps {
  language: string
  defaultLanguage: string
  value: string
  onChange: (value: string) => void
}

/** A text of an SMS, into which variables can be inserted. */
function SmsText({ language, defaultLanguage, value, onChange }: TextProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const insert = (variable: string) => {
    const { selectionStart: start, selectionEnd: end } = field.current ?? { selectionStart: 0, selectionEnd: 0 }
    onChange(`${value.slice(0, start)}{{ ${variable} }}${value.slice(end)}`)
    field.current?.focus()
  }
  return (
    <>
      <Textarea
        ref={field}
        label={t.smsText.replace('#', () => nameLanguage(language))}
        autosize
        minRows={4}
        maxRows={14}
        maxLength={1600}
        value={value}
        placeholder={
          language === defaultLanguage ? undefined : t.smsFallback.replace('#', () => nameLanguage(defaultLanguage))
        }
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <VariableMenu insert={insert} />
    </>
  )
}

/** The variables that campaigns have. */
function VariableMenu({ insert }: { insert: (variable: string) => void }) {
  const list = useQuery({ ...get('/v1/email-messages/template-variables'), staleTime: Infinity })
  const variables = (list.data?.categories ?? []).flatMap((category) =>
    category.variables.filter(
      ({ list: isPart, message_types }) =>
        isPart === undefined && (message_types === undefined || message_types.includes('campaign')),
    ),
  )
  return (
    <Menu shadow="md" position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          mt={4}
          leftSection={<IconBraces size={14} aria-hidden />}
          disabled={variables.length === 0}
        >
          {t.insertVariable}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
        {variables.map(({ variable, sample }) => (
          <Menu.Item key={variable} onClick={() => insert(variable)}>
            <Text size="sm" ff="monospace">
              {variable}
            </Text>
            <Text size="xs" c="dimmed" className="break">
              {sample}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** The size of the stored text, as the service bills it. */
function SmsSize({ size }: { size: CampaignDetail['sms_sizes'][string] | undefined }) {
  if (!size) return null
  const { characters, parts, encoding, ucs2_characters } = size
  return (
    <Stack gap={4} mt={4}>
      <Text size="sm" aria-live="polite">
        {plural(characters, t.characterCount)} · <b>{plural(parts, t.smsCount)}</b>{' '}
        <Text component="span" size="sm" c="dimmed">
          {t.sampleHint}
        </Text>
      </Text>
      {encoding === 'ucs2' && (
        <Alert color="yellow" variant="outline" p="xs">
          {t.ucs2.replace('#', () => ucs2_characters.map((character) => `“${character}”`).join(' '))}
          {ucs2_characters.length >= 20 && ` ${formatCount(ucs2_characters.length)}+`}
        </Alert>
      )}
    </Stack>
  )
}
