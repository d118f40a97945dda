import { NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useCaller } from '../../caller'
import { loadWords, words } from '../../words'
import { EventChoice } from './event-choice'
import type { EventKind } from './kinds'

const t = await loadWords('webhooks')

export interface EndpointValues extends Record<string, unknown> {
  name: string
  url: string
  /** Empty for the whole organisation. */
  edition_id: string
  events: EventKind[]
  timeout_seconds: number
}

export const labels: Record<keyof EndpointValues, string> = {
  name: words.common.name,
  url: t.url,
  edition_id: t.scope,
  events: t.eventKinds,
  timeout_seconds: t.timeout,
}

interface Props {
  form: UseFormReturnType<EndpointValues>
  organization: string | undefined
}

export function EndpointFields({ form, organization }: Props) {
  const person = useCaller()
  const isOfOrganization =
    person?.is_superuser || person?.organizations.some(({ id, role }) => id === organization && role !== null)
  const editions = person?.editions.filter(({ organization_id }) => organization_id === organization) ?? []
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput label={words.common.name} required {...form.getInputProps('name')} />
        <Select
          label={t.scope}
          allowDeselect={false}
          data={[
            ...(isOfOrganization ? [{ value: '', label: t.allEditions }] : []),
            ...editions.map(({ id, full_name }) => ({ value: id, label: full_name })),
          ]}
          {...form.getInputProps('edition_id')}
        />
      </SimpleGrid>
      <TextInput
        label={t.url}
        description={t.urlHint}
        type="url"
        required
        placeholder="https://hooks.example.com/event-commerce"
        {...form.getInputProps('url')}
      />
      <EventChoice {...form.getInputProps('events')} value={form.values.events} />
      <NumberInput
        label={t.timeout}
        description={t.timeoutHint}
        min={0}
        max={30}
        maw={260}
        {...form.getInputProps('timeout_seconds')}
      />
    </>
  )
}
