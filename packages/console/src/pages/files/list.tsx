import { Drawer, Group, Image, Stack, Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { getList, type Schema } from '../../api'
import { useOrganizationId, useRefusalReason } from '../../caller'
import { DropZone } from '../../parts/drop-zone'
import { type Filter, FilterBar } from '../../parts/filter-bar'
import { Heading } from '../../parts/heading'
import { type Column, RecordList } from '../../parts/record-list'
import { Status } from '../../parts/status'
import { Time } from '../../parts/time'
import { UploadList } from '../../parts/upload-list'
import { useUploads } from '../../parts/use-uploads'
import { formatBytes, loadWords, plural, words } from '../../words'
import { FileDetail } from './detail'

const route = getRouteApi('/shell/editions/$edition/files')
const t = await loadWords('files')
const pageSize = 50

type File = Schema['File']

const filters: Filter[] = [
  { key: 'purpose', label: t.purpose, kind: 'choice', options: t.purposes },
  { key: 'is_used', label: t.isUsed, kind: 'boolean' },
  { key: 'mime_type', label: words.common.type, kind: 'text', isExtra: true },
]

/** The files of the edition and of the whole organisation. */
export function Files() {
  const { file, ...search } = route.useSearch()
  const navigate = useNavigate()
  const organization = useOrganizationId()
  const { ordering = '-created', ...others } = search
  const query = { organization_id: organization, page_size: pageSize, ...others, ordering: [ordering] }
  const list = useQuery({
    ...getList('/v1/files', { params: { query } }),
    enabled: organization !== undefined,
    refetchInterval: ({ state }) =>
      state.data?.data.results.some(({ status }) => status === 'quarantined') ? 5000 : false,
  })
  const show = (id: string | undefined) =>
    void navigate({ to: '.', search: (old) => ({ ...old, file: id }), replace: true })
  return (
    <Stack gap="sm">
      <Heading title={t.title} facts={t.hint} />
      <Upload />
      <FilterBar search={search} filters={filters} searchHint={t.searchHint} />
      <RecordList
        name="files"
        label={t.title}
        list={list}
        search={{ ...search, ordering }}
        columns={listColumns(show)}
        rowKey={({ id }) => id}
        pageSize={pageSize}
        countLabel={(count) => plural(count, t.count)}
        empty={{ title: t.empty, hint: t.emptyHint }}
      />
      <Drawer
        opened={file !== undefined}
        onClose={() => show(undefined)}
        position="right"
        size="lg"
        title={t.one}
        closeButtonProps={{ 'aria-label': words.common.close }}
      >
        {file !== undefined && <FileDetail id={file} close={() => show(undefined)} />}
      </Drawer>
    </Stack>
  )
}

function Upload() {
  const { edition } = route.useParams()
  const reason = useRefusalReason('uploadFile')
  const uploads = useUploads({ edition })
  if (reason !== null)
    return (
      <Text size="sm" c="dimmed">
        {t.uploadRefused} {reason}
      </Text>
    )
  return (
    <>
      <DropZone label={t.upload} hint={t.uploadHint} isMultiple onFiles={(files) => void uploads.send(files)} />
      <UploadList {...uploads} />
    </>
  )
}

const listColumns = (show: (id: string) => void): Column<File>[] => [
  {
    key: 'name',
    label: words.common.name,
    sort: 'name',
    cell: (file) => (
      <Group gap="xs" wrap="nowrap">
        <Thumbnail file={file} />
        <UnstyledButton className="link break" fz="sm" onClick={() => show(file.id)}>
          {file.title || file.name}
        </UnstyledButton>
      </Group>
    ),
  },
  { key: 'purpose', label: t.purpose, cell: ({ purpose }) => t.purposes[purpose] },
  { key: 'type', label: words.common.type, isHidden: true, cell: ({ mime_type }) => mime_type },
  {
    key: 'status',
    label: words.common.status,
    cell: ({ status }) => <Status tone={status === 'ready' ? 'good' : 'wait'} label={t.statuses[status]} />,
  },
  {
    key: 'used',
    label: t.isUsed,
    isNamed: true,
    cell: ({ is_used }) => (is_used ? words.common.yes : words.common.no),
  },
  {
    key: 'alt',
    label: t.altText,
    isNamed: true,
    cell: ({ purpose, alt_text }) =>
      purpose !== 'image' ? '–' : Object.keys(alt_text).length === 0 ? t.noAltText : Object.keys(alt_text).join(', '),
  },
  {
    key: 'scope',
    label: t.scope,
    isHidden: true,
    cell: ({ edition_id }) => (edition_id === null ? t.organization : words.common.edition),
  },
  { key: 'size', label: t.size, sort: 'size', isNumber: true, cell: ({ size }) => formatBytes(size) },
  { key: 'created', label: t.uploaded, sort: 'created', cell: ({ created }) => <Time at={created} /> },
]

function Thumbnail({ file: { image, alt_text } }: { file: File }) {
  if (image === null) return null
  const [alt = ''] = Object.values(alt_text)
  return <Image src={image.thumbnail} alt={alt} w={28} h={28} radius="sm" fit="cover" />
}
