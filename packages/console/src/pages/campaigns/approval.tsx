import { ifUnchanged } from '@event-commerce/client'
import { Group, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, get, queries } from '../../api'
import { AccountName } from '../../parts/account-name'
import { ActionButton } from '../../parts/action-button'
import { FormDialog } from '../../parts/form-dialog'
import { Time } from '../../parts/time'
import { loadWords } from '../../words'
import { findReason } from './allowed'
import { ApprovalStatus } from './campaign-status'
import { campaignQuery } from './draft'
import { type CampaignDetail, isStartable } from './types'

const t = await loadWords('campaigns')

type Decision = 'request' | 'approve' | 'reject'

/** Names who asked for the approval and who decided, and offers the next step. It shows nothing where nobody has to approve. */
export function ApprovalSection({ campaign }: { campaign: CampaignDetail }) {
  const { approval, organization_id, status } = campaign
  const [decision, setDecision] = useState<Decision | null>(null)
  const organization = useQuery({
    ...get('/v1/organizations/{id}', { params: { path: { id: organization_id ?? '' } } }),
    enabled: organization_id !== null,
    staleTime: 60_000,
  })
  const isRequired = organization.data?.requires_campaign_approval ?? false
  if (!isRequired && approval === null) return null
  return (
    <Stack gap="xs" component="section" aria-label={t.approval}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {t.approval}
        </Text>
        {approval && <ApprovalStatus status={approval.status} />}
      </Group>
      <ApprovalHistory campaign={campaign} />
      {isRequired && isStartable(status) && (
        <Group gap="xs">
          {approval?.status !== 'approved' && approval?.status !== 'requested' && (
            <ActionButton
              operation="requestCampaignApproval"
              reason={findReason(campaign, 'request_approval')}
              onClick={() => setDecision('request')}
            >
              {t.requestApproval}
            </ActionButton>
          )}
          {approval?.status === 'requested' && (
            <ActionButton
              operation="approveCampaign"
              reason={findReason(campaign, 'approve')}
              onClick={() => setDecision('approve')}
            >
              {t.approve}
            </ActionButton>
          )}
          {(approval?.status === 'requested' || approval?.status === 'approved') && (
            <ActionButton
              operation="rejectCampaign"
              reason={findReason(campaign, 'reject')}
              variant="default"
              onClick={() => setDecision('reject')}
            >
              {approval.status === 'approved' ? t.withdrawApproval : t.reject}
            </ActionButton>
          )}
        </Group>
      )}
      {decision && <DecisionDialog campaign={campaign} decision={decision} close={() => setDecision(null)} />}
    </Stack>
  )
}

function ApprovalHistory({ campaign: { approval } }: { campaign: CampaignDetail }) {
  if (!approval)
    return (
      <Text size="sm" c="dimmed">
        {t.approvalHint}
      </Text>
    )
  const { status, requested_by, requested_at, request_note, decided_by, decided_at, note } = approval
  return (
    <>
      {status === 'outdated' && <Text size="sm">{t.outdatedHint}</Text>}
      <Text size="sm" className="break">
        {t.requestedBy} <AccountName id={requested_by} />, <Time at={requested_at} />
        {request_note && `: “${request_note}”`}
      </Text>
      {decided_by !== null && (
        <Text size="sm" className="break">
          {t.decidedBy} <AccountName id={decided_by} />, <Time at={decided_at} />
          {note && `: “${note}”`}
        </Text>
      )}
    </>
  )
}

const texts = {
  request: { title: t.requestApproval, hint: t.requestHint, submit: t.requestApproval },
  approve: { title: t.approve, hint: t.approveHint, submit: t.approve },
  reject: { title: t.reject, hint: t.rejectHint, submit: t.reject },
}

interface DialogProps {
  campaign: CampaignDetail
  decision: Decision
  close: () => void
}

function DecisionDialog({ campaign: { id }, decision, close }: DialogProps) {
  // The person approves what was read when the dialog was opened.
  const [etag] = useState(() => queries.getQueryData(campaignQuery(id).queryKey)?.etag ?? null)
  const { title, hint, submit } = texts[decision]
  const params = { path: { id } }
  return (
    <FormDialog
      title={title}
      isOpen
      close={close}
      submitLabel={submit}
      isDangerous={decision === 'reject'}
      initialValues={{ note: '' }}
      canSubmit={({ note }) => decision !== 'reject' || note.trim() !== ''}
      send={async ({ note }, headers) => {
        const optional = { note: note.trim() || null }
        if (decision === 'request')
          return api.POST('/v1/campaigns/{id}/request-approval', { params, headers, body: optional })
        if (decision === 'reject') return api.POST('/v1/campaigns/{id}/reject', { params, headers, body: { note } })
        const matched = { ...headers, ...ifUnchanged(etag) }
        return api.POST('/v1/campaigns/{id}/approve', { params, headers: matched, body: optional })
      }}
    >
      {(form) => (
        <>
          <Text size="sm">{hint}</Text>
          <Textarea
            label={decision === 'reject' ? t.reason : t.note}
            required={decision === 'reject'}
            autosize
            minRows={2}
            maxLength={1000}
            data-autofocus
            {...form.getInputProps('note')}
          />
        </>
      )}
    </FormDialog>
  )
}
