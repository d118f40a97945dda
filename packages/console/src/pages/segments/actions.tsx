import { ActionIcon, List, Menu, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconArrowBackUp, IconCopy, IconDots, IconRefresh, IconTrash } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { api, type Schema } from '../../api'
import { useEditionId } from '../../caller'
import { useChange } from '../../form'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { MenuAction } from '../../parts/menu-action'
import { Refusal } from '../../parts/refusal'
import { loadWords, plural, words } from '../../words'

const t = await loadWords('segments')

interface Props {
  segment: Schema['Segment']
}

/** The actions on a segment besides changing it. */
export function SegmentActions({ segment }: Props) {
  const [isCopying, copy] = useDisclosure()
  const [isResetting, reset] = useDisclosure()
  const [isDeleting, remove] = useDisclosure()
  const isCalculating = segment.status === 'calculating'
  const params = { path: { id: segment.id } }
  const recalculate = useChange((_: void, headers) => api.POST('/v1/segments/{id}/recalculate', { params, headers }), {
    done: t.calculationStarted,
  })
  return (
    <>
      <ActionButton
        operation="recalculateSegment"
        reason={isCalculating ? t.waitForCalculation : null}
        variant={segment.status === 'draft' ? 'filled' : 'default'}
        leftSection={<IconRefresh size={16} aria-hidden />}
        loading={recalculate.isPending}
        onClick={() => recalculate.mutate()}
      >
        {t.recalculate}
      </ActionButton>
      <Menu position="bottom-end" shadow="md">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t.more}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <MenuAction leftSection={<IconCopy size={16} aria-hidden />} operation="createSegment" onClick={copy.open}>
            {t.duplicate}
          </MenuAction>
          <MenuAction
            leftSection={<IconArrowBackUp size={16} aria-hidden />}
            operation="resetSegmentToDraft"
            onClick={reset.open}
          >
            {t.reset}
          </MenuAction>
          <MenuAction
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            operation="deleteSegment"
            onClick={remove.open}
          >
            {words.common.delete}
          </MenuAction>
        </Menu.Dropdown>
      </Menu>
      {recalculate.error && <Refusal error={recalculate.error} />}
      <CopyDialog segment={segment} isOpen={isCopying} close={copy.close} />
      <FormDialog
        title={t.reset}
        isOpen={isResetting}
        close={reset.close}
        initialValues={{}}
        send={(_, headers) => api.POST('/v1/segments/{id}/reset-to-draft', { params, headers })}
        done={t.resetDone}
        submitLabel={t.reset}
        isDangerous
      >
        {() => <Text size="sm">{plural(segment.user_count, t.resetHint)}</Text>}
      </FormDialog>
      <DeleteDialog segment={segment} isOpen={isDeleting} close={remove.close} />
    </>
  )
}

interface DialogProps extends Props {
  isOpen: boolean
  close: () => void
}

function CopyDialog({ segment, isOpen, close }: DialogProps) {
  const edition = useEditionId() ?? ''
  const navigate = useNavigate()
  return (
    <FormDialog
      title={t.duplicate}
      isOpen={isOpen}
      close={close}
      initialValues={{ name: t.copyName.replace('{name}', segment.name) }}
      send={async ({ name }, headers) => {
        const { organization_id, edition_id, description, communication_type, communication_channel, expression } =
          segment
        const body = {
          name,
          organization_id,
          edition_id,
          description,
          communication_type,
          communication_channel,
          expression,
        }
        return (await api.POST('/v1/segments', { body, headers })).data
      }}
      onSent={({ id }) => navigate({ to: '/editions/$edition/segments/$segment', params: { edition, segment: id } })}
      done={t.duplicated}
      submitLabel={t.duplicate}
    >
      {(form) => <TextInput label={words.common.name} required data-autofocus {...form.getInputProps('name')} />}
    </FormDialog>
  )
}

function DeleteDialog({ segment, isOpen, close }: DialogProps) {
  const edition = useEditionId() ?? ''
  const navigate = useNavigate()
  return (
    <FormDialog
      title={t.deleteTitle.replace('{name}', segment.name)}
      isOpen={isOpen}
      close={close}
      initialValues={{}}
      send={async (_, headers) => {
        await api.DELETE('/v1/segments/{id}', { params: { path: { id: segment.id } }, headers })
      }}
      onSent={() => navigate({ to: '/editions/$edition/segments', params: { edition } })}
      done={t.deleted}
      submitLabel={words.common.delete}
      isDangerous
    >
      {() => (
        <List size="sm">
          <List.Item>{plural(segment.user_count, t.deleteHint)}</List.Item>
          {segment.campaigns_count > 0 && <List.Item>{plural(segment.campaigns_count, t.deleteUses)}</List.Item>}
        </List>
      )}
    </FormDialog>
  )
}
