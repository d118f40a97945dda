import { Button, Group, Image, Input, Modal, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { get, getList, type Schema } from '../api'
import { useRefusalReason } from '../caller'
import { words } from '../words'
import { DropZone } from './drop-zone'
import { Empty } from './empty'
import { Loaded } from './loaded'
import { UploadList } from './upload-list'
import { useUploads } from './use-uploads'

interface ImageFieldProps {
  label: string
  description?: string
  organization: string
  /** Images of this edition can be chosen beside those of the whole organisation. */
  edition?: string | undefined
  /** The id of the file. Null if there is no image. */
  value: string | null
  onChange: (id: string | null) => void
  error?: ReactNode
  id?: string
}

/** A field that holds an image file. */
export function ImageField({ label, description, organization, edition, value, onChange, error, id }: ImageFieldProps) {
  const [isOpen, setOpen] = useState(false)
  const ownId = useId()
  const file = useQuery({
    ...get('/v1/files/{id}', { params: { path: { id: value ?? '' } } }),
    enabled: value !== null,
  })
  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div">
      <Group gap="xs" mt={4} role="group" aria-label={label}>
        {value !== null && (
          <Image
            src={file.data?.image?.thumbnail ?? file.data?.url ?? undefined}
            alt={file.data?.name ?? ''}
            h={56}
            w="auto"
            maw={120}
            radius="sm"
            fit="contain"
          />
        )}
        <Button id={id ?? ownId} variant="default" size="xs" onClick={() => setOpen(true)}>
          {words.common.chooseImage}
        </Button>
        {value !== null && (
          <Button variant="subtle" color="gray" size="xs" onClick={() => onChange(null)}>
            {words.common.remove}
          </Button>
        )}
      </Group>
      {isOpen && (
        <ImagePicker
          title={label}
          organization={organization}
          edition={edition}
          close={() => setOpen(false)}
          choose={(image) => {
            onChange(image.id)
            setOpen(false)
          }}
        />
      )}
    </Input.Wrapper>
  )
}

interface PickerProps {
  title: string
  organization: string
  edition?: string | undefined
  close: () => void
  choose: (image: Schema['File']) => void
}

/** Chooses one of the images of an organisation, or uploads another. */
export function ImagePicker({ title, organization, edition, close, choose }: PickerProps) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 300)
  const images = useQuery(
    getList('/v1/files', {
      params: {
        query: {
          organization_id: organization,
          purpose: 'image',
          ordering: ['-created'],
          page_size: 60,
          ...(search && { search }),
        },
      },
    }),
  )
  const canUpload = useRefusalReason('uploadFile') === null
  const uploads = useUploads({ edition: edition ?? null, purpose: 'image', onUploaded: choose })
  const canUse = (image: Schema['File']) => image.edition_id === null || image.edition_id === edition || !edition
  return (
    <Modal opened onClose={close} title={title} size="lg">
      <Stack gap="sm">
        {canUpload && (
          <DropZone
            label={words.common.uploadImage}
            hint={words.common.uploadImageHint}
            accept="image/*"
            onFiles={(files) => void uploads.send(files)}
          />
        )}
        <UploadList {...uploads} />
        <TextInput
          type="search"
          aria-label={words.common.search}
          placeholder={words.common.search}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
        <Loaded query={images} heights={[120, 120]}>
          {({ results }) =>
            results.length === 0 ? (
              <Empty title={search ? words.common.noMatch : words.common.noImages} />
            ) : (
              <SimpleGrid cols={{ base: 2, xs: 3, sm: 4 }} spacing="xs">
                {results.filter(canUse).map((image) => (
                  <UnstyledButton key={image.id} onClick={() => choose(image)} p={4} className="tile">
                    <Image src={image.image?.thumbnail ?? image.url ?? undefined} alt="" h={90} fit="contain" />
                    <Text size="xs" className="break" ta="center" lineClamp={2}>
                      {image.title || image.name}
                    </Text>
                  </UnstyledButton>
                ))}
              </SimpleGrid>
            )
          }
        </Loaded>
      </Stack>
    </Modal>
  )
}
