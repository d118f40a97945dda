import { Alert, Group, Progress, Stack, Stepper, Text } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Heading } from '../../parts/heading'
import { ImportStatus } from '../../parts/import-status'
import { Loaded } from '../../parts/loaded'
import { RoleGate } from '../../parts/role-gate'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { formatCount, formatPercent, loadWords } from '../../words'
import { CancelButton } from './cancel-button'
import { ColumnStep } from './column-step'
import { FileStep } from './file-step'
import { PreviewStep } from './preview-step'
import { ProductStep } from './product-step'
import { ReportStep } from './report-step'
import { chooseStep, isRunning, readStep, type Step, steps } from './steps'
import { type DataImport, type ImportResult, useImport } from './use-import'

const route = getRouteApi('/shell/editions/$edition/imports/$import')
const t = await loadWords('dataImports')

export const Import = () => (
  <RoleGate operation="listDataImports">
    <ImportPage />
  </RoleGate>
)

function ImportPage() {
  const { edition, import: id } = route.useParams()
  const { step } = route.useSearch()
  const row = useImport(id)
  return (
    <Loaded query={row}>
      {(result) => {
        const { data } = result
        const current = readStep(data)
        const visibleStep = chooseStep(current, step)
        return (
          <Stack gap="sm">
            <Heading
              title={data.name}
              mark={<ImportStatus status={data.status} />}
              facts={<ImportFacts row={data} />}
              back={{ link: { to: '/editions/$edition/imports', params: { edition } }, label: t.title }}
              actions={data.started_at === null && <CancelButton result={result} />}
            />
            {data.source !== 'api' && <Steps current={current} visibleStep={visibleStep} row={data} />}
            {data.error_message !== null && (
              <Alert color="red" variant="outline" title={t.stopped}>
                {data.error_message}
              </Alert>
            )}
            {data.status === 'cancelled' && data.started_at === null && (
              <Alert color="gray" variant="outline" title={t.cancelledTitle}>
                {t.cancelledHint}
              </Alert>
            )}
            <StepContent step={visibleStep} current={current} result={result} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

function ImportFacts({ row }: { row: DataImport }) {
  const { kind, external_source, detected_source, source_suggested_by, created } = row
  return (
    <Group gap={6}>
      {t.kinds[kind]}
      {external_source !== null && (
        <span>
          · {t.externalSource}: {detected_source?.label ?? external_source}
          {source_suggested_by !== null && ` (${t.sourceOrigins[source_suggested_by]})`}
        </span>
      )}
      · <Time at={created} />
    </Group>
  )
}

function Steps({ current, visibleStep, row }: { current: Step; visibleStep: Step; row: DataImport }) {
  const navigate = useNavigate()
  const currentIndex = steps.indexOf(current)
  const canGoBack = row.started_at === null && !isRunning(row.status)
  return (
    <Stepper
      component="nav"
      aria-label={t.stepsLabel}
      size="xs"
      iconSize={26}
      className="steps"
      active={steps.indexOf(visibleStep)}
      onStepClick={(index) =>
        void navigate({ to: '.', search: { step: index === currentIndex ? undefined : steps[index] } as never })
      }
    >
      {steps.map((step, index) => (
        <Stepper.Step
          key={step}
          label={t.steps[step]}
          aria-current={step === visibleStep ? 'step' : undefined}
          completedIcon={index < currentIndex ? undefined : formatCount(index + 1)}
          allowStepSelect={index <= currentIndex && (canGoBack || index === currentIndex)}
          disabled={index > currentIndex || (!canGoBack && index !== currentIndex)}
        />
      ))}
    </Stepper>
  )
}

interface ContentProps {
  step: Step
  current: Step
  result: ImportResult
}

function StepContent({ step, current, result }: ContentProps) {
  const { status } = result.data
  if (isRunning(status) && step === current) return <Working result={result} />
  switch (step) {
    case 'file':
      return <FileStep result={result} />
    case 'columns':
      return <ColumnStep result={result} />
    case 'products':
      return <ProductStep result={result} />
    case 'preview':
      return <PreviewStep result={result} />
    default:
      return <ReportStep result={result} />
  }
}

/** Shows the work of the service on the import at the moment. */
function Working({ result }: { result: ImportResult }) {
  const {
    status,
    progress,
    processed_rows,
    total_rows,
    created_orders,
    updated_orders,
    skipped_orders,
    failed_orders,
  } = result.data
  const isImporting = status === 'importing' || status === 'cancelling'
  const counts = { created: created_orders, updated: updated_orders, skipped: skipped_orders, failed: failed_orders }
  return (
    <Section
      title={t.statuses[status]}
      hint={t.workingHint}
      actions={status === 'importing' && <CancelButton result={result} />}
    >
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fz={28} fw={700}>
            {formatPercent(progress)}
          </Text>
          {total_rows > 0 && (
            <Text c="dimmed">
              {formatCount(processed_rows)} / {formatCount(total_rows)} {t.rows}
            </Text>
          )}
        </Group>
        <Progress value={progress * 100} size="lg" animated aria-label={t.statuses[status]} />
        {isImporting && (
          <Group gap="lg">
            {Object.entries(counts).map(([key, count]) => (
              <Text key={key} size="sm">
                {key === 'failed' ? t.failed : t.outcomes[key as 'created']}: <b>{formatCount(count)}</b>
              </Text>
            ))}
          </Group>
        )}
      </Stack>
    </Section>
  )
}
