import { Alert, Autocomplete, Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconClipboard } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, get, type Schema } from '../../api'
import { useOrganizationId } from '../../caller'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { DropZone } from '../../parts/drop-zone'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import { RoleGate } from '../../parts/role-gate'
import { Section } from '../../parts/section'
import { UploadList } from '../../parts/upload-list'
import { useUploads } from '../../parts/use-uploads'
import { formatBytes, loadWords } from '../../words'

const route = getRouteApi('/shell/editions/$edition/imports/new')
const t = await loadWords('dataImports')
export const tableExtensions = '.csv,.tsv,.txt,.xlsx,.zip'

export function NewImport() {
  const { edition } = route.useParams()
  return (
    <Stack gap="sm" maw={860}>
      <Heading
        title={t.new}
        back={{ link: { to: '/editions/$edition/imports', params: { edition } }, label: t.title }}
      />
      <RoleGate operation="createDataImport">
        <FileStep />
      </RoleGate>
    </Stack>
  )
}

function FileStep() {
  const { edition } = route.useParams()
  const { kind = 'orders', file } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganizationId()
  const [source, setSource] = useState('')
  const create = useChange(
    (file_id: string, headers) =>
      api.POST('/v1/data-imports', {
        headers,
        body: {
          organization_id: organization ?? '',
          edition_id: edition,
          kind,
          file_id,
          external_source: source.trim() || undefined,
        },
      }),
    {
      onSent: ({ data }) =>
        navigate({ to: '/editions/$edition/imports/$import', params: { edition, import: data.id }, replace: true }),
    },
  )
  const uploads = useUploads({
    edition,
    purpose: 'import',
    onUploaded: async ({ id, status }) => {
      // The address remembers the file, so that a reload goes on from here.
      await navigate({ to: '.', search: (search) => ({ ...search, file: id }), replace: true })
      if (status === 'ready') create.mutate(id)
    },
  })
  return (
    <Section title={t.steps.file}>
      <Stack>
        <div>
          <SegmentedControl
            aria-label={t.kind}
            data={[
              { value: 'orders', label: t.kinds.orders },
              { value: 'customers', label: t.kinds.customers },
            ]}
            value={kind}
            onChange={(next) =>
              void navigate({ to: '.', search: (search) => ({ ...search, kind: next }), replace: true })
            }
          />
          <Text size="sm" c="dimmed" mt={4}>
            {t.kindHints[kind]}
          </Text>
        </div>
        <SourceField edition={edition} value={source} onChange={setSource} />
        {file !== undefined && !uploads.isBusy && <UploadedFile id={file} create={create} />}
        {create.error && <Refusal error={create.error} />}
        {!uploads.isBusy && !create.isPending && <TableSource onFile={(one) => void uploads.send([one])} />}
        <UploadList {...uploads} />
      </Stack>
    </Section>
  )
}

interface SourceProps {
  edition: string
  value: string
  onChange: (source: string) => void
}

/** The name of the other system. Sources of earlier imports are offered. */
function SourceField({ edition, value, onChange }: SourceProps) {
  const earlier = useQuery(get('/v1/data-imports', { params: { query: { edition_id: edition, page_size: 100 } } })).data
  const names = (earlier?.results ?? []).flatMap(({ external_source: name }) => (name === null ? [] : [name]))
  return (
    <Autocomplete
      label={t.externalSource}
      description={t.sourceHint}
      placeholder={t.sourcePlaceholder}
      maw={420}
      data={[...new Set(names)]}
      value={value}
      onChange={onChange}
    />
  )
}

/** A place for the table: dropped, chosen or pasted. */
export function TableSource({ onFile }: { onFile: (file: File) => void }) {
  const [isPasting, pasting] = useDisclosure()
  const [pasted, setPasted] = useState('')
  return (
    <Stack gap="xs">
      <DropZone
        label={t.chooseFile}
        hint={t.fileHint}
        accept={tableExtensions}
        onFiles={([file]) => file && onFile(file)}
      >
        <Button
          variant="default"
          leftSection={<IconClipboard size={16} aria-hidden />}
          onClick={pasting.toggle}
          aria-expanded={isPasting}
        >
          {t.paste}
        </Button>
      </DropZone>
      {isPasting && (
        <>
          <Textarea
            label={t.pasteLabel}
            autosize
            minRows={5}
            maxRows={14}
            ff="monospace"
            value={pasted}
            onChange={(event) => setPasted(event.currentTarget.value)}
          />
          <Group justify="end">
            <Button
              disabled={pasted.trim() === ''}
              onClick={() => onFile(new File([pasted], `${t.pastedName}.csv`, { type: 'text/csv' }))}
            >
              {t.useText}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  )
}

/** A file that is stored, and of which no import was made yet. */
function UploadedFile({ id, create }: { id: string; create: { mutate: (id: string) => void; isPending: boolean } }) {
  const file = useQuery({
    ...get('/v1/files/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'quarantined' ? 2000 : false),
  })
  return (
    <Loaded query={file} heights={[64]}>
      {({ name, size, status }: Schema['File']) => (
        <Alert variant="outline" color={status === 'ready' ? 'teal' : 'blue'} title={name}>
          <Group justify="space-between">
            <Text size="sm">
              {formatBytes(size)} · {status === 'ready' ? t.fileReady : t.fileScanned}
            </Text>
            <ActionButton
              operation="createDataImport"
              loading={create.isPending}
              reason={status === 'ready' ? null : t.fileScanned}
              onClick={() => create.mutate(id)}
            >
              {t.importFile}
            </ActionButton>
          </Group>
        </Alert>
      )}
    </Loaded>
  )
}
