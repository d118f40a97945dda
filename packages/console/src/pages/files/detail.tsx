import { ifUnchanged } from '@event-commerce/client'
import { Anchor, Button, Code, Group, Image, List, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { useEdition, useOrganizationId } from '../../caller'
import { ActionButton } from '../../parts/action-button'
import { Copy } from '../../parts/copy'
import { EditForm, type Version } from '../../parts/edit-form'
import { Facts } from '../../parts/facts'
import { FormDialog } from '../../parts/form-dialog'
import { Loaded } from '../../parts/loaded'
import { languageCodes, nameLanguage } from '../../parts/names'
import { findRecordLink } from '../../parts/record-link'
import { Time } from '../../parts/time'
import { formatBytes, loadWords, words } from '../../words'

const t = await loadWords('files')

type File = Schema['File']

interface Values extends Record<string, unknown> {
  name: string
  title: string
  alt_text: Record<string, string>
  purpose: File['purpose']
  edition_id: string
  tags: string[]
}

/** Everything about a file, and what can be changed: its bytes never change. */
export function FileDetail({ id, close }: { id: string; close: () => void }) {
  const file = useQuery(getWithEtag('/v1/files/{id}', { params: { path: { id } } }))
  return (
    <Loaded query={file}>
      {(latest) => (
        <Stack>
          <Preview file={latest.data} />
          <FileFacts file={latest.data} />
          <Uses file={latest.data} />
          <FileForm latest={latest} />
          <DeleteButton latest={latest} close={close} />
        </Stack>
      )}
    </Loaded>
  )
}

function Preview({ file: { image, alt_text, name } }: { file: File }) {
  if (image === null) return null
  const [alt = name] = Object.values(alt_text)
  return <Image src={image.optimized} alt={alt} mah={260} fit="contain" />
}

function FileFacts({ file }: { file: File }) {
  const { url, image, size, mime_type, width, height, created, checksum_sha256, status } = file
  const variants = image === null ? [] : Object.entries(image).filter(([, address]) => typeof address === 'string')
  return (
    <Facts
      facts={[
        [words.common.name, file.name],
        [words.common.status, t.statuses[status]],
        [t.size, `${formatBytes(size)}${width === null || height === null ? '' : ` · ${width} × ${height}`}`],
        [words.common.type, mime_type],
        [t.uploaded, <Time key="created" at={created} />],
        [
          t.address,
          url && (
            <Group key="url" gap={4}>
              <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
                {t.open}
              </Anchor>
              <Copy text={url} name={t.address} />
              {file.purpose === 'import' && (
                <Text span size="xs" c="dimmed">
                  {t.shortAddress}
                </Text>
              )}
            </Group>
          ),
        ],
        [
          t.variants,
          variants.length > 0 && (
            <Group key="variants" gap="sm">
              {variants.map(([name, address]) => (
                <Group key={name} gap={2} wrap="nowrap">
                  <Anchor href={address} target="_blank" rel="noreferrer" size="sm">
                    {(t.variantNames as Readonly<Record<string, string>>)[name] ?? name}
                  </Anchor>
                  <Copy text={address} name={name} />
                </Group>
              ))}
            </Group>
          ),
        ],
        [
          'SHA-256',
          <Code key="sum" className="break">
            {checksum_sha256}
          </Code>,
        ],
      ]}
    />
  )
}

/** The resources that use a file, as far as the person sees them. */
function Uses({ file: { used_by, is_used } }: { file: File }) {
  const { edition } = useParams({ strict: false })
  const organization = useOrganizationId()
  return (
    <div>
      <Text size="sm" fw={600}>
        {t.usedBy}
      </Text>
      {used_by.length === 0 && <Text size="sm">{is_used ? t.usedElsewhere : t.notUsed}</Text>}
      <List size="sm">
        {used_by.map(({ id, type, name }) => {
          const link = findRecordLink(id, { edition, organization })
          const label = (t.useTypes as Readonly<Record<string, string>>)[type] ?? type
          return (
            <List.Item key={id}>
              {label}:{' '}
              {link ? (
                <Link className="link" {...link}>
                  {name}
                </Link>
              ) : (
                name
              )}
            </List.Item>
          )
        })}
      </List>
    </div>
  )
}

const readValues = ({ name, title, alt_text, purpose, edition_id, tags }: File): Values => ({
  name,
  title,
  alt_text: Object.fromEntries(languageCodes.map((code) => [code, alt_text[code] ?? ''])),
  purpose,
  edition_id: edition_id ?? '',
  tags,
})

const buildAltText = (before: File['alt_text'], texts: Record<string, string>): File['alt_text'] => {
  const others = Object.entries(before).filter(([code]) => !Object.hasOwn(texts, code))
  return Object.fromEntries([...others, ...Object.entries(texts).filter(([, text]) => text.trim() !== '')])
}

function FileForm({ latest }: { latest: Version<File> }) {
  const { id, alt_text: before, edition_id: owner } = latest.data
  const edition = useEdition()
  const params = { path: { id } }
  const editionId = owner ?? edition?.id ?? ''
  return (
    <EditForm<File, Values>
      latest={latest}
      read={readValues}
      operation="updateFile"
      labels={{ name: words.common.name, title: t.titleField, alt_text: t.altText, purpose: t.purpose, tags: t.tags }}
      save={({ edition_id, alt_text, ...changes }, headers) =>
        api.PATCH('/v1/files/{id}', {
          params,
          headers,
          body: {
            ...changes,
            ...(alt_text !== undefined && { alt_text: buildAltText(before, alt_text) }),
            ...(edition_id !== undefined && { edition_id: edition_id || null }),
          },
        })
      }
    >
      {(form) => (
        <>
          <TextInput label={words.common.name} {...form.getInputProps('name')} />
          <TextInput label={t.titleField} {...form.getInputProps('title')} />
          {latest.data.image !== null && (
            <Stack gap={4} role="group" aria-label={t.altText}>
              <Text size="sm" fw={600}>
                {t.altText}
              </Text>
              <Text size="xs" c="dimmed">
                {t.altHint}
              </Text>
              {languageCodes.map((code) => (
                <TextInput
                  key={code}
                  size="xs"
                  lang={code === 'se' ? 'sv' : code}
                  label={nameLanguage(code)}
                  {...form.getInputProps(`alt_text.${code}`)}
                />
              ))}
            </Stack>
          )}
          <Group grow align="start">
            <Select
              label={t.purpose}
              allowDeselect={false}
              data={Object.entries(t.purposes).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('purpose')}
            />
            <Select
              label={t.scope}
              allowDeselect={false}
              data={[
                { value: '', label: t.organization },
                { value: editionId, label: editionId === edition?.id ? edition.full_name : words.common.edition },
              ]}
              {...form.getInputProps('edition_id')}
            />
          </Group>
          <TagsInput label={t.tags} {...form.getInputProps('tags')} />
        </>
      )}
    </EditForm>
  )
}

function DeleteButton({ latest: { data, etag }, close }: { latest: Version<File>; close: () => void }) {
  const [isOpen, dialog] = useDisclosure()
  return (
    <Group>
      <ActionButton
        operation="deleteFile"
        variant="default"
        color="red"
        reason={data.is_used ? t.inUse : null}
        onClick={dialog.open}
      >
        {words.common.delete}
      </ActionButton>
      <Button variant="subtle" onClick={close}>
        {words.common.close}
      </Button>
      <FormDialog
        title={`${words.common.delete}: ${data.name}`}
        isOpen={isOpen}
        close={dialog.close}
        initialValues={{}}
        send={(_, headers) =>
          api.DELETE('/v1/files/{id}', {
            params: { path: { id: data.id } },
            headers: { ...headers, ...ifUnchanged(etag) },
          })
        }
        onSent={close}
        submitLabel={words.common.delete}
        isDangerous
      >
        {() => <Text size="sm">{t.deleteHint}</Text>}
      </FormDialog>
    </Group>
  )
}
