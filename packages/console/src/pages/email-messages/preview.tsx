import { ApiError } from '@event-commerce/client'
import { Alert, Checkbox, Group, List, Loader, Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue, useViewportSize } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { CustomerSelect } from '../../parts/customer-select'
import { EmailFrame } from '../../parts/email-frame'
import { type LanguageCode, languageOptions, nameLanguage } from '../../parts/names'
import { Refusal } from '../../parts/refusal'
import { formatBytes, loadWords, plural, words } from '../../words'
import { type Draft, listConditions, writeBlocks } from './blocks'

const segmentsWords = await loadWords('segments')

const t = await loadWords('emailMessages')
const typingPauseMs = 400
/** Gmail cuts off larger messages. */
const maxGmailBytes = 102_000
/** The mail takes the height of the window that its head leaves. */
const headHeight = 330
const minHeight = 360

interface Props {
  message: Schema['EmailMessageDetail']
  draft: Draft
  /** The language in which the editor writes. */
  language: LanguageCode
  /** Called with the faults of the draft that the preview has found, by path. */
  onFaults?: (faults: Record<string, string>) => void
}

/** The texts of faults by the path of their field, with the place in a template. */
const readFaults = (error: unknown): Record<string, string> =>
  error instanceof ApiError
    ? Object.fromEntries(
        error.errors.flatMap((fault) =>
          fault.pointer ? [[fault.pointer.replace('#/', '').replaceAll('/', '.'), writeFault(fault)]] : [],
        ),
      )
    : {}

const writeFault = ({ detail, line, column }: ApiError['errors'][number]): string =>
  line
    ? `${segmentsWords.conditions.place.replace('{line}', String(line)).replace('{column}', String(column))} ${detail}`
    : detail

/** The message as it would be sent, with changes that are not saved, for an example or a customer. */
export function Preview({ message, draft, language: writtenLanguage, onFaults }: Props) {
  const edition = useEdition()
  const { height: windowHeight } = useViewportSize()
  const [chosenLanguage, setLanguage] = useState<LanguageCode | null>(null)
  const [customer, setCustomer] = useState<string | null>(null)
  const [conditions, setConditions] = useState<readonly string[] | null>(null)
  const language = chosenLanguage ?? writtenLanguage
  const body = {
    language,
    subject: draft.subject,
    preheader: draft.preheader,
    blocks: writeBlocks(draft.blocks),
    ...(customer !== null && { user_id: customer }),
    ...(conditions !== null && customer === null && { conditions: [...conditions] }),
  }
  const [settled] = useDebouncedValue(JSON.stringify(body), typingPauseMs)
  const preview = useQuery({
    queryKey: ['preview', message.id, settled],
    queryFn: async ({ signal }) => {
      const params = { path: { id: message.id } }
      const content = JSON.parse(settled) as typeof body
      return (await api.POST('/v1/email-messages/{id}/preview', { params, body: content, signal })).data
    },
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  const { error } = preview
  // A draft with a fault has no preview: the last one stays in sight.
  const [last, setLast] = useState(preview.data)
  if (preview.data !== undefined && preview.data !== last) setLast(preview.data)
  const data = preview.data ?? last
  useEffect(() => onFaults?.(readFaults(error)), [error, onFaults])
  const all = listConditions(draft.blocks)
  return (
    <Stack gap="xs" component="section" aria-label={t.preview}>
      <Group gap="xs" align="end" wrap="nowrap">
        <Select
          label={t.language}
          size="xs"
          w={130}
          allowDeselect={false}
          value={language}
          data={languageOptions}
          onChange={(code) => setLanguage(code)}
        />
        <CustomerSelect
          label={t.previewFor}
          size="xs"
          flex={1}
          placeholder={t.example}
          edition={message.edition?.id}
          organization={message.organization?.id ?? edition?.organization.id}
          value={customer}
          onChange={setCustomer}
        />
        {preview.isFetching && <Loader size="xs" mb={8} role="status" aria-label={words.common.loading} />}
      </Group>
      {all.length > 0 && customer === null && <ConditionChoice all={all} chosen={conditions} choose={setConditions} />}
      {error && <PreviewFault error={error} blocks={draft.blocks} retry={preview.refetch} />}
      {data && (
        <>
          <Findings preview={data} requested={language} />
          <EmailFrame
            html={data.html}
            text={data.text}
            subject={data.subject}
            preheader={data.preheader}
            from={edition?.email_sender_name ?? edition?.full_name ?? message.organization?.name ?? null}
            height={Math.max(minHeight, windowHeight - headHeight)}
          />
        </>
      )}
    </Stack>
  )
}

/** The block at which a pointer of the API aims, such as `Image: `. Empty for what is no block. */
function nameBlock(blocks: Draft['blocks'], pointer: string | null): string {
  const [, name, index] = (pointer ?? '').split('/')
  const block = name === 'blocks' ? blocks[Number(index)] : undefined
  return block ? `${t.blockTypes[block.type]}: ` : ''
}

/** Faults of the draft show at their blocks; here is only that the preview is an older one. */
const PreviewFault = ({ error, blocks, retry }: { error: Error; blocks: Draft['blocks']; retry: () => unknown }) =>
  error instanceof ApiError && error.errors.length > 0 ? (
    <Alert color="yellow" variant="outline" title={t.previewStopped}>
      <List size="sm">
        {error.errors.map(({ attr, pointer, detail }) => (
          <List.Item key={`${attr}${detail}`} className="break">
            {nameBlock(blocks, pointer)}
            {detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  ) : (
    <Refusal error={error} retry={retry} />
  )

interface ChoiceProps {
  all: readonly string[]
  /** Null: every block shows. */
  chosen: readonly string[] | null
  choose: (conditions: readonly string[] | null) => void
}

/** Chooses the conditions that the recipient of the preview fulfils. */
const ConditionChoice = ({ all, chosen, choose }: ChoiceProps) => (
  <Checkbox.Group
    label={t.shownFor}
    size="xs"
    value={[...(chosen ?? all)]}
    onChange={(next) => choose(next.length === all.length ? null : next)}
  >
    <Stack gap={4} mt={4}>
      {all.map((condition) => (
        <Checkbox key={condition} size="xs" value={condition} label={condition} classNames={{ label: 'break' }} />
      ))}
    </Stack>
  </Checkbox.Group>
)

/** Lists the faults that recipients would notice. */
function Findings({ preview, requested }: { preview: Schema['EmailPreview']; requested: LanguageCode }) {
  const { language, missing_translations: missing, unknown_variables: unknown, size_bytes: size } = preview
  const lines = [
    ...(language === requested
      ? []
      : [t.otherLanguage.replace('{wanted}', nameLanguage(requested)).replace('{shown}', nameLanguage(language))]),
    ...(missing.length === 0 ? [] : [plural(missing.length, t.missingCount)]),
    ...unknown.map(({ variable, suggestion }) =>
      suggestion === null
        ? `${t.unknownVariable} ${variable}`
        : `${t.unknownVariable} ${variable}. ${t.didYouMean} ${suggestion}?`,
    ),
    ...(size > maxGmailBytes ? [t.tooLarge.replace('{size}', formatBytes(size))] : []),
  ]
  if (lines.length === 0) return null
  return (
    <Alert color="yellow" variant="outline" p="xs">
      {lines.map((line) => (
        <Text key={line} size="sm" className="break">
          {line}
        </Text>
      ))}
    </Alert>
  )
}
