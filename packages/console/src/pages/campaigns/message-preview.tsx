import { Alert, List, Select, Skeleton, Stack } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { EmailFrame } from '../../parts/email-frame'
import { nameLanguage } from '../../parts/names'
import { Refusal } from '../../parts/refusal'
import { loadWords, plural, words } from '../../words'

const t = await loadWords('campaigns')
type Language = NonNullable<Schema['SendTestMessage']['languages']>[number]

/** The message with sample values, in each language of the edition. */
export function MessagePreview({ id }: { id: string }) {
  const edition = useEdition()
  const [chosen, setChosen] = useState<string | null>(null)
  const language = (chosen ?? edition?.default_language) as Language | undefined
  const preview = useQuery({
    queryKey: ['/v1/email-messages/{id}/preview', id, language],
    queryFn: async ({ signal }) => {
      const init = { params: { path: { id } }, body: { language }, signal }
      return (await api.POST('/v1/email-messages/{id}/preview', init)).data
    },
    enabled: language !== undefined,
    placeholderData: keepPreviousData,
  })
  if (!edition || !language) return null
  if (preview.error) return <Refusal error={preview.error} retry={preview.refetch} />
  if (!preview.data) return <Skeleton h={400} />
  const { html, text, subject, preheader, missing_translations, unknown_variables } = preview.data
  const faults = missing_translations.length + unknown_variables.length
  return (
    <Stack gap="xs">
      {faults > 0 && (
        <Alert color="yellow" variant="outline" p="xs" title={plural(faults, t.warningCount)}>
          <List size="sm">
            {missing_translations.map((missing) => (
              <List.Item key={JSON.stringify(missing)}>
                {t.missingIn.replace('#', () => nameLanguage(language))}: {describe(missing)}
              </List.Item>
            ))}
            {unknown_variables.map((unknown) => (
              <List.Item key={JSON.stringify(unknown)}>
                {t.faults.unknown_variable}: {describe(unknown)}
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      <EmailFrame
        html={html}
        text={text}
        subject={subject}
        preheader={preheader}
        from={edition.email_sender_name ?? edition.full_name}
        height={440}
        controls={
          <Select
            size="xs"
            w={150}
            aria-label={words.common.language}
            allowDeselect={false}
            value={language}
            onChange={setChosen}
            data={edition.enabled_languages.map((code) => ({ value: code, label: nameLanguage(code) }))}
          />
        }
      />
    </Stack>
  )
}

const describe = (fault: object): string =>
  Object.values(fault)
    .filter((value) => typeof value === 'string' && value !== '')
    .join(' · ')
