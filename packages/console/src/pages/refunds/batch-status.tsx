import { Stepper } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { Schema } from '../../api'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'

type Code = Schema['RefundBatch']['status']

const t = await loadWords('refunds')
const tones: Record<Code, Tone> = {
  counting: 'wait',
  draft: 'act',
  running: 'wait',
  finished: 'good',
  cancelled: 'none',
}

export const BatchStatus = ({ status }: { status: Code }) => (
  <Status tone={tones[status]} label={t.batchStatuses[status]} />
)

/** The steps of a batch that are done. */
const steps: Record<Code, number> = { counting: 1, draft: 2, running: 3, finished: 4, cancelled: 2 }

/** Shows the step of the batch. Null: nothing is chosen yet. */
export function BatchSteps({ status }: { status: Code | null }) {
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false })
  const active = status === null ? 0 : steps[status]
  return (
    <Stepper
      active={active}
      size="sm"
      allowNextStepsSelect={false}
      orientation={isNarrow ? 'vertical' : 'horizontal'}
      component="div"
    >
      {(['choose', 'count', 'start', 'pay'] as const).map((step, index) => (
        <Stepper.Step
          key={step}
          component="div"
          label={t.steps[step]}
          description={t.stepHints[step]}
          loading={index === active && (status === 'counting' || status === 'running')}
          aria-current={index === active ? 'step' : undefined}
        />
      ))}
    </Stepper>
  )
}
