import { Button, Menu, Text } from '@mantine/core'
import { IconDots, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api'
import { useChange } from '../../form'
import type { Operation } from '../../generated/roles'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { MenuAction } from '../../parts/menu-action'
import { useSearchChange } from '../../parts/search-change'
import { formatCount, loadWords, plural, words } from '../../words'
import { countRetryable, findReason } from './allowed'
import { CreateCampaign } from './create-campaign'
import { storeCampaign } from './draft'
import { StartDialog } from './start-dialog'
import { type CampaignAction, type CampaignDetail, isRunning } from './types'

const t = await loadWords('campaigns')

type Open = 'send' | 'resume' | 'cancel' | 'delete' | 'duplicate' | null

/** The buttons of a campaign. What its status does not allow is left out; what the role does not allow is disabled. */
export function CampaignActions({ campaign }: { campaign: CampaignDetail }) {
  const { status, is_paused, allowed_actions, id, scheduled_at } = campaign
  const [open, setOpen] = useState<Open>(null)
  const change = useSearchChange()
  const params = { path: { id } }
  const pause = useChange((_: null, headers) => api.POST('/v1/campaigns/{id}/pause', { params, headers }), {
    done: t.pausedNow,
  })
  const resume = useChange((_: null, headers) => api.POST('/v1/campaigns/{id}/resume', { params, headers }), {
    done: t.resumed,
  })
  const isActive = status === 'scheduled' || isRunning(status)
  const isDue = status === 'scheduled' && scheduled_at !== null && new Date(scheduled_at).getTime() <= Date.now()
  return (
    <>
      {isActive && !is_paused && (
        <ActionButton
          operation="pauseCampaign"
          reason={findReason(campaign, 'pause')}
          variant="default"
          loading={pause.isPending}
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          onClick={() => pause.mutate(null)}
        >
          {t.pause}
        </ActionButton>
      )}
      {isActive && is_paused && (
        <ActionButton
          operation="resumeCampaign"
          reason={findReason(campaign, 'resume')}
          loading={resume.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => (isDue ? setOpen('resume') : resume.mutate(null))}
        >
          {t.resume}
        </ActionButton>
      )}
      {status === 'scheduled' && (
        <ActionButton
          operation="updateCampaign"
          reason={findReason(campaign, 'update')}
          variant="default"
          onClick={() => change.set({ step: 'audience' })}
        >
          {words.common.edit}
        </ActionButton>
      )}
      {status === 'failed' && (
        <ActionButton
          operation="sendCampaignNow"
          reason={findReason(campaign, 'send_now')}
          onClick={() => setOpen('send')}
        >
          {t.sendAgain}…
        </ActionButton>
      )}
      <MoreActions allowed={allowed_actions} isActive={isActive} open={setOpen} />
      <StartDialog campaign={campaign} at={null} isOpen={open === 'send'} close={() => setOpen(null)} />
      <CreateCampaign source={campaign} isOpen={open === 'duplicate'} close={() => setOpen(null)} />
      <CancelDialog campaign={campaign} isOpen={open === 'cancel'} close={() => setOpen(null)} />
      <DeleteDialog campaign={campaign} isOpen={open === 'delete'} close={() => setOpen(null)} />
      <FormDialog
        title={t.resume}
        isOpen={open === 'resume'}
        close={() => setOpen(null)}
        initialValues={{}}
        submitLabel={t.resume}
        done={t.resumed}
        send={(_, headers) => api.POST('/v1/campaigns/{id}/resume', { params, headers })}
      >
        {() => <Text size="sm">{t.resumeDue}</Text>}
      </FormDialog>
    </>
  )
}

interface MoreProps {
  allowed: readonly CampaignAction[]
  isActive: boolean
  open: (dialog: Open) => void
}

function MoreActions({ allowed, isActive, open }: MoreProps) {
  const item = (dialog: Open, operation: Operation, label: string, isRed = false) => (
    <MenuAction operation={operation} color={isRed ? 'red' : undefined} onClick={() => open(dialog)}>
      {label}
    </MenuAction>
  )
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <Button size="sm" variant="default" px="xs" aria-label={t.moreActions}>
          <IconDots size={16} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {item('duplicate', 'createCampaign', `${t.duplicate}…`)}
        {(allowed.includes('cancel') || isActive) && item('cancel', 'cancelCampaign', `${t.cancel}…`, true)}
        {allowed.includes('delete') && item('delete', 'deleteCampaign', `${words.common.delete}…`, true)}
      </Menu.Dropdown>
    </Menu>
  )
}

interface DialogProps {
  campaign: CampaignDetail
  isOpen: boolean
  close: () => void
}

const CancelDialog = ({ campaign, isOpen, close }: DialogProps) => (
  <FormDialog
    title={t.cancel}
    isOpen={isOpen}
    close={close}
    initialValues={{}}
    isDangerous
    submitLabel={t.cancel}
    done={t.cancelled}
    send={(_, headers) => api.POST('/v1/campaigns/{id}/cancel', { params: { path: { id: campaign.id } }, headers })}
    onSent={storeCampaign}
  >
    {() => (
      <Text size="sm">
        {campaign.status === 'scheduled'
          ? t.cancelScheduled
          : `${plural(campaign.sent_count, t.cancelSent)} ${plural(
              campaign.total_recipients - campaign.sent_count - campaign.failed_count,
              t.cancelPending,
            )}`}
      </Text>
    )}
  </FormDialog>
)

function DeleteDialog({ campaign, isOpen, close }: DialogProps) {
  const navigate = useNavigate()
  const { edition = '' } = useParams({ strict: false })
  return (
    <FormDialog
      title={t.deleteTitle}
      isOpen={isOpen}
      close={close}
      initialValues={{}}
      isDangerous
      submitLabel={words.common.delete}
      done={t.deleted}
      send={(_, headers) => api.DELETE('/v1/campaigns/{id}', { params: { path: { id: campaign.id } }, headers })}
      onSent={() => navigate({ to: '/editions/$edition/campaigns', params: { edition } })}
    >
      {() => <Text size="sm">{t.deleteHint.replace('#', () => campaign.name)}</Text>}
    </FormDialog>
  )
}

/** Sends the same content to those whose failure can pass. */
export function RetryButton({ campaign }: { campaign: CampaignDetail }) {
  const [isOpen, setOpen] = useState(false)
  const count = countRetryable(campaign)
  if (isRunning(campaign.status) || count === 0) return null
  if (!campaign.allowed_actions.includes('retry_failed') && campaign.status === 'cancelled') return null
  return (
    <>
      <ActionButton
        operation="retryFailedCampaignRecipients"
        reason={findReason(campaign, 'retry_failed')}
        size="xs"
        onClick={() => setOpen(true)}
      >
        {t.retryThese.replace('#', () => formatCount(count))}
      </ActionButton>
      <FormDialog
        title={t.retry}
        isOpen={isOpen}
        close={() => setOpen(false)}
        initialValues={{}}
        submitLabel={t.retryThese.replace('#', () => formatCount(count))}
        done={t.started}
        send={(_, headers) =>
          api.POST('/v1/campaigns/{id}/retry-failed', { params: { path: { id: campaign.id } }, headers })
        }
        onSent={storeCampaign}
      >
        {() => <Text size="sm">{plural(count, t.retryHint)}</Text>}
      </FormDialog>
    </>
  )
}
