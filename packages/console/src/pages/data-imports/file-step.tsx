import { Alert, List, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { EditDialog } from '../../parts/edit-form'
import { Facts } from '../../parts/facts'
import { Refusal } from '../../parts/refusal'
import { Section } from '../../parts/section'
import { UploadList } from '../../parts/upload-list'
import { useUploads } from '../../parts/use-uploads'
import { formatBytes, formatCount, loadWords } from '../../words'
import { TableSource } from './new'
import type { DataImport, ImportResult } from './use-import'

const t = await loadWords('dataImports')
type Options = Schema['DataImportOptions']

const encodings: Options['encoding'][] = [
  'auto',
  'utf-8',
  'utf-16',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'windows-1253',
  'windows-1254',
  'windows-1257',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-15',
  'koi8-r',
  'macintosh',
  'cp850',
  'cp437',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
]

/** Shows the reading of the file, and offers another reading or another file. */
export function FileStep({ result }: { result: ImportResult }) {
  const { data } = result
  const [isOpen, dialog] = useDisclosure()
  const canUpdate = data.allowed_actions.includes('update')
  return (
    <Section
      title={t.steps.file}
      actions={
        canUpdate &&
        data.file !== null && (
          <ActionButton operation="updateDataImport" variant="default" onClick={dialog.open}>
            {t.readAnew}
          </ActionButton>
        )
      }
    >
      <Stack>
        <FileFacts row={data} />
        {canUpdate && <OtherFile row={data} />}
      </Stack>
      {isOpen && <ReadingDialog row={data} close={dialog.close} />}
    </Section>
  )
}

export function FileFacts({ row: { file, file_format: format, files_deleted_at, total_rows } }: { row: DataImport }) {
  return (
    <Stack gap="xs">
      <Facts
        facts={[
          [
            t.file,
            file ? `${file.name} · ${formatBytes(file.size)}` : files_deleted_at === null ? null : t.fileDeleted,
          ],
          [t.rows, total_rows > 0 ? formatCount(total_rows) : null],
          [t.encoding, format?.encoding],
          [t.delimiter, format?.delimiter ? t.delimiters[format.delimiter] : null],
          [t.quotes, format?.quotes ? t.quoteKinds[format.quotes] : null],
          [t.sheet, format?.sheet],
          [t.header, format ? (format.header_line === null ? t.noHeader : `${t.line} ${format.header_line}`) : null],
          [t.archive, format?.files.map(({ name }) => name).join(', ')],
        ]}
      />
      {(format?.warnings.length ?? 0) > 0 && (
        <Alert color="yellow" variant="outline" title={t.checkFile}>
          <List size="sm">
            {format?.warnings.map(({ code, message }) => (
              <List.Item key={code}>{message}</List.Item>
            ))}
          </List>
        </Alert>
      )}
    </Stack>
  )
}

function OtherFile({ row }: { row: DataImport }) {
  const navigate = useNavigate()
  const replace = useChange(
    (file_id: string, headers) =>
      api.PATCH('/v1/data-imports/{id}', { params: { path: { id: row.id } }, headers, body: { file_id } }),
    { onSent: () => navigate({ to: '.', search: {} as never }) },
  )
  const uploads = useUploads({
    edition: row.edition.id,
    purpose: 'import',
    onUploaded: ({ id }) => replace.mutateAsync(id),
  })
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {row.file === null ? t.steps.file : t.otherFile}
      </Text>
      {replace.error && <Refusal error={replace.error} />}
      {!uploads.isBusy && <TableSource onFile={(file) => void uploads.send([file])} />}
      <UploadList {...uploads} />
    </Stack>
  )
}

const readValues = ({ options: { encoding, delimiter, quotes, has_header, sheet } }: DataImport) => ({
  encoding,
  delimiter,
  quotes,
  has_header: has_header === null ? 'auto' : String(has_header),
  sheet: sheet ?? '',
})

function buildOptions({ has_header, sheet, ...others }: Partial<ReturnType<typeof readValues>>) {
  return {
    ...others,
    ...(has_header !== undefined && { has_header: has_header === 'auto' ? null : has_header === 'true' }),
    ...(sheet !== undefined && { sheet: sheet || null }),
  }
}

function ReadingDialog({ row, close }: { row: DataImport; close: () => void }) {
  const navigate = useNavigate()
  const params = { path: { id: row.id } }
  const isWorkbook = row.file_format?.type === 'xlsx'
  const toData = (names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([value, label]) => ({ value, label }))
  return (
    <EditDialog
      title={t.readAnew}
      query={getWithEtag('/v1/data-imports/{id}', { params })}
      close={close}
      size="lg"
      operation="updateDataImport"
      read={readValues}
      save={async (changes, headers) => {
        const version = await api.PATCH('/v1/data-imports/{id}', {
          params,
          headers,
          body: { options: buildOptions(changes) },
        })
        await navigate({ to: '.', search: {} as never })
        return version
      }}
      fieldOf={(pointer) => pointer.split('/').at(-1) ?? ''}
    >
      {(form) => (
        <>
          <Text size="sm">{t.readAnewHint}</Text>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            {isWorkbook ? (
              <Select
                label={t.sheet}
                data={row.file_format?.sheets ?? []}
                clearable
                placeholder={t.firstSheet}
                {...form.getInputProps('sheet')}
              />
            ) : (
              <>
                <Select
                  label={t.encoding}
                  searchable
                  allowDeselect={false}
                  data={encodings.map((one) => ({ value: one, label: one === 'auto' ? t.auto : one }))}
                  {...form.getInputProps('encoding')}
                />
                <Select
                  label={t.delimiter}
                  allowDeselect={false}
                  data={toData(t.delimiters)}
                  {...form.getInputProps('delimiter')}
                />
                <Select
                  label={t.quotes}
                  allowDeselect={false}
                  data={(['auto', 'double', 'none'] as const).map((value) => ({ value, label: t.quoteKinds[value] }))}
                  {...form.getInputProps('quotes')}
                />
              </>
            )}
            <Select
              label={t.header}
              allowDeselect={false}
              data={[
                { value: 'auto', label: t.auto },
                { value: 'true', label: t.hasHeader },
                { value: 'false', label: t.noHeader },
              ]}
              {...form.getInputProps('has_header')}
            />
          </SimpleGrid>
        </>
      )}
    </EditDialog>
  )
}
