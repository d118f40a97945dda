import { PreconditionFailedError } from '@event-commerce/client'
import { Button, Grid, Group, Paper, Stack, Tabs, Text } from '@mantine/core'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import { getRouteApi } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { Refusal } from '../../parts/refusal'
import { useSearchChange } from '../../parts/search-change'
import { loadWords, words } from '../../words'
import { AudienceStep } from './audience-step'
import { ContentStep } from './content-step'
import { useDraft } from './draft'
import { FaultList, PlanPanel } from './plan'
import { type Step, findStep, steps, usePlan } from './steps'
import { TestStep } from './test-step'
import type { CampaignDetail } from './types'
import { WhenStep } from './when-step'

const route = getRouteApi('/shell/editions/$edition/campaigns/$campaign')
const t = await loadWords('campaigns')

/** The four steps of a campaign that is not sent yet, with its plan beside them. */
export function Composer({ campaign, etag }: { campaign: CampaignDetail; etag: string | null }) {
  const { step = 'audience' } = route.useSearch()
  const change = useSearchChange()
  const edit = useDraft(campaign, etag)
  const plan = usePlan(campaign.id, true)
  const faults = plan.query.data?.faults
  const go = (next: Step) => change.set({ step: next })
  const position = steps.indexOf(step)
  const next = steps[position + 1]
  const previous = steps[position - 1]
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, md: 7.5 }}>
        <Paper withBorder>
          <Tabs value={step} onChange={(value) => value !== null && go(value as Step)} keepMounted={false}>
            <Tabs.List grow>
              {steps.map((name, index) => (
                <Tabs.Tab key={name} value={name} px={6}>
                  <Group gap={4} wrap="nowrap" component="span" justify="center">
                    {index + 1}. {t.steps[name]}
                    <StepMark step={name} faults={faults} />
                  </Group>
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value={step} p="md">
              <Stack gap="md">
                {step === 'audience' && <AudienceStep key={edit.round} campaign={campaign} edit={edit} />}
                {step === 'content' && <ContentStep campaign={campaign} edit={edit} />}
                {step === 'test' && <TestStep campaign={campaign} />}
                {step === 'when' && <WhenStep campaign={campaign} edit={edit} plan={plan.query.data} />}
                <SaveState edit={edit} />
                <Group justify="space-between">
                  {previous ? (
                    <Button variant="default" onClick={() => go(previous)}>
                      {t.back}
                    </Button>
                  ) : (
                    <span />
                  )}
                  {next && (
                    <Button variant="light" onClick={() => go(next)}>
                      {t.next}: {t.steps[next]}
                    </Button>
                  )}
                </Group>
              </Stack>
            </Tabs.Panel>
          </Tabs>
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4.5 }}>
        <PlanPanel campaign={campaign} plan={plan} go={go} />
      </Grid.Col>
    </Grid>
  )
}

function StepMark({ step, faults }: { step: Step; faults: Schema['FieldProblem'][] | undefined }) {
  if (!faults || step === 'test' || step === 'when') return null
  return faults.some((fault) => findStep(fault) === step) ? (
    <IconAlertCircle size={16} color="var(--mantine-color-error)" aria-label={t.stepHasFaults} />
  ) : (
    <IconCircleCheck size={16} color="var(--mantine-color-teal-6)" aria-label={t.stepDone} />
  )
}

/** Says whether what stands in the fields is stored. */
function SaveState({ edit }: { edit: ReturnType<typeof useDraft> }) {
  const { isDirty, isSaving, isAutomatic, error, warnings, save, discard } = edit
  return (
    <>
      {error && (
        <Stack gap="xs">
          <Refusal error={error} {...(error instanceof PreconditionFailedError ? {} : { retry: save })} />
          <Group>
            <Button size="xs" variant="default" onClick={discard}>
              {words.common.reload}
            </Button>
          </Group>
        </Stack>
      )}
      {warnings.length > 0 && !isAutomatic && <FaultList faults={warnings} isWarning />}
      {!isAutomatic && isDirty && (
        <Group gap="xs">
          <Button onClick={save} loading={isSaving}>
            {words.common.save}
          </Button>
          <Button variant="default" onClick={discard}>
            {words.common.discard}
          </Button>
          <Text size="sm" c="dimmed">
            {t.scheduledEditHint}
          </Text>
        </Group>
      )}
      {isAutomatic && (
        <Text size="xs" c="dimmed" aria-live="polite">
          {error ? t.notSaved : isDirty || isSaving ? t.saving : t.draftSaved}
        </Text>
      )}
    </>
  )
}
