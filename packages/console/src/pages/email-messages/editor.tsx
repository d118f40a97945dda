import { Badge, Chip, Grid, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { api, getWithEtag, type Schema } from '../../api'
import { useArchivedReason, useEdition, useOrganizationId, useRefusalReason } from '../../caller'
import { listTextLanguages } from '../../parts/content-languages'
import { EditForm, type Version } from '../../parts/edit-form'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { type LanguageCode, languageCodes, nameLanguage } from '../../parts/names'
import { Section } from '../../parts/section'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { formatCount, loadWords, words } from '../../words'
import { MessageActions } from './actions'
import { BlockList } from './block-list'
import { countMissing, type Draft, listTexts, readDraft, writeBlocks } from './blocks'
import { type BlockListProps, EditingContext } from './editing'
import { Preview } from './preview'
import { TextsField } from './text-fields'
import { Uses } from './uses'

const route = getRouteApi('/shell/editions/$edition/email-messages/$message')
const t = await loadWords('emailMessages')

type Message = Schema['EmailMessageDetail']

export function EmailMessage() {
  const { edition, message: id } = route.useParams()
  const message = useQuery(getWithEtag('/v1/email-messages/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={message} heights={[32, 120, 480]}>
      {(latest) => (
        <Stack gap="sm">
          <Heading
            title={latest.data.title}
            mark={<Status tone="none" label={t.scopes[latest.data.scope]} />}
            facts={
              <>
                {t.types[latest.data.type]} · {words.common.modified} <Time at={latest.data.modified} age />
              </>
            }
            back={{ link: { to: '/editions/$edition/email-messages', params: { edition } }, label: t.title }}
            actions={<MessageActions message={latest.data} />}
          />
          <Content key={id} latest={latest} />
        </Stack>
      )}
    </Loaded>
  )
}

/** Messages of the platform, and those of people who may only read, show as they are sent. */
function Content({ latest }: { latest: Version<Message> }) {
  const { data } = latest
  const edition = useEdition()
  const archived = useArchivedReason()
  const refusal = useRefusalReason('updateEmailMessage') ?? (data.scope === 'edition' ? archived : null)
  const isFixed = data.locked || data.scope === 'platform'
  if (!isFixed && refusal === null) return <Editor latest={latest} />
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Preview message={data} draft={readDraft(data)} language={edition?.default_language ?? 'en'} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Section title={isFixed ? t.scopes.platform : t.readOnly}>
          <Text size="sm">{isFixed ? t.platformHint : refusal}</Text>
        </Section>
      </Grid.Col>
    </Grid>
  )
}

function Editor({ latest }: { latest: Version<Message> }) {
  const { data } = latest
  const edition = useEdition()
  const [previewFaults, setPreviewFaults] = useState<Record<string, string>>({})
  const showFaults = useCallback((faults: Record<string, string>) => setPreviewFaults(faults), [])
  const main = edition?.default_language ?? 'en'
  const [languages, setLanguages] = useState<readonly LanguageCode[]>([])
  const editedLanguages = languages.length === 0 ? [main] : languages
  return (
    <EditForm
      latest={latest}
      read={readDraft}
      operation="updateEmailMessage"
      labels={{ title: words.common.name, type: words.common.type, subject: t.subject, preheader: t.preheader }}
      isSticky
      save={({ blocks, ...changes }, headers) =>
        api.PATCH('/v1/email-messages/{id}', {
          params: { path: { id: data.id } },
          body: { ...changes, ...(blocks && { blocks: writeBlocks(blocks) }) } as never,
          headers,
        })
      }
    >
      {(form) => (
        <Grid
          gap="md"
          type="container"
          breakpoints={{ xs: '500px', sm: '600px', md: '860px', lg: '1100px', xl: '1300px' }}
        >
          <Grid.Col span={{ base: 12, md: 7 }}>
            <DraftForm
              form={form}
              message={data}
              languages={editedLanguages}
              setLanguages={setLanguages}
              previewFaults={previewFaults}
            />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <div className="beside">
              <Preview message={data} draft={form.values} language={editedLanguages[0] ?? main} onFaults={showFaults} />
            </div>
          </Grid.Col>
        </Grid>
      )}
    </EditForm>
  )
}

interface DraftProps {
  form: UseFormReturnType<Draft>
  message: Message
  languages: readonly LanguageCode[]
  setLanguages: (languages: readonly LanguageCode[]) => void
  previewFaults: Record<string, string>
}

const showBlocks = (props: BlockListProps) => <BlockList {...props} />

function DraftForm({ form, message, languages, setLanguages, previewFaults }: DraftProps) {
  const organization = useOrganizationId() ?? ''
  const faults = { ...previewFaults, ...(form.errors as Record<string, string>) }
  const { subject, preheader, blocks, type } = form.values
  const set = (part: Partial<Draft>) => {
    // Faults name blocks by their place, which a change may move.
    form.clearErrors()
    form.setValues(part)
  }
  return (
    <EditingContext
      value={{
        organization: message.organization?.id ?? organization,
        edition: message.edition?.id,
        languages,
        messageType: type,
        faults,
        showBlocks,
      }}
    >
      <Stack gap="sm">
        <Section title={t.envelope}>
          <Stack gap="xs">
            <Group gap="xs" align="start">
              <TextInput
                label={t.name}
                description={t.nameHint}
                required
                flex="1 1 220px"
                {...form.getInputProps('title')}
              />
              <Select
                label={words.common.type}
                description={t.typeHint}
                w={210}
                allowDeselect={false}
                value={type}
                data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
                error={faults['type']}
                onChange={(next) => set({ type: next as Draft['type'] })}
              />
            </Group>
            <SenderLine />
            <LanguageChoice draft={form.values} languages={languages} setLanguages={setLanguages} />
            <TextsField
              label={t.subject}
              path="subject"
              texts={subject}
              isRequired
              onChange={(texts) => set({ subject: texts })}
            />
            <TextsField
              label={t.preheader}
              path="preheader"
              texts={preheader}
              onChange={(texts) => set({ preheader: texts })}
            />
          </Stack>
        </Section>
        <Section title={t.content} hint={t.contentHint}>
          <BlockList blocks={blocks} path="blocks" onChange={(next) => set({ blocks: next })} />
        </Section>
        <Uses message={message} />
      </Stack>
    </EditingContext>
  )
}

function SenderLine() {
  const edition = useEdition()
  if (!edition) return null
  return (
    <Text size="sm" c="dimmed" className="break">
      {t.sender}: {edition.email_sender_name ?? edition.full_name} {edition.email_sender_address ?? t.platformSender}{' '}
      <Link className="link" to="/editions/$edition/settings" params={{ edition: edition.id }}>
        {t.changeSender}
      </Link>
    </Text>
  )
}

interface ChoiceProps {
  draft: Draft
  languages: readonly LanguageCode[]
  setLanguages: (languages: readonly LanguageCode[]) => void
}

/** Chooses which languages stand side by side, and counts what each lacks. */
function LanguageChoice({ draft, languages, setLanguages }: ChoiceProps) {
  const enabled = useEdition()?.enabled_languages ?? []
  const texts = listTexts(draft)
  const used = listTextLanguages(texts, languageCodes)
  const offered = languageCodes.filter(
    (code) => enabled.includes(code) || used.includes(code) || languages.includes(code),
  )
  const others = languageCodes.filter((code) => !offered.includes(code))
  const describe = (code: LanguageCode) => {
    const count = countMissing(texts, code)
    return { count, isUnused: !used.includes(code) }
  }
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500} id="languages">
        {t.languages}
      </Text>
      <Chip.Group
        multiple
        value={[...languages]}
        onChange={(next) => setLanguages(languageCodes.filter((code) => next.includes(code)))}
      >
        <Group gap={6} role="group" aria-labelledby="languages">
          {[...offered, ...others].map((code) => {
            const { count, isUnused } = describe(code)
            return (
              <Chip
                key={code}
                value={code}
                size="xs"
                variant="outline"
                opacity={others.includes(code) ? 0.85 : undefined}
              >
                {nameLanguage(code)}
                {count > 0 && !isUnused && (
                  <Badge component="span" variant="dot" color="yellow.6" tt="none" fw={500} size="sm" ml={6} bd={0}>
                    {formatCount(count)} {t.missing}
                  </Badge>
                )}
              </Chip>
            )
          })}
        </Group>
      </Chip.Group>
    </Stack>
  )
}
