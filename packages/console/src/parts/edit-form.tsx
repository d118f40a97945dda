import { ifUnchanged, PreconditionFailedError } from '@event-commerce/client'
import { Alert, Button, Fieldset, Group, List, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useRefusalReason } from '../caller'
import { type SendHeaders, useSentForm } from '../form'
import type { Operation } from '../generated/roles'
import { words } from '../words'
import { ActionButton } from './action-button'
import { Loaded } from './loaded'
import { Refusal } from './refusal'

export interface Version<Resource> {
  data: Resource
  etag: string | null
}

type EditHeaders = SendHeaders & { 'If-Match': string }

interface Props<Resource, Values> {
  /** The newest version of the resource: the data of `getWithEtag`. */
  latest: Version<Resource>
  /** The values of the form for a version. */
  read: (resource: Resource) => Values
  /** Sends the fields that the person changed, with all values for those that belong together. */
  save: (changes: Partial<Values>, headers: EditHeaders, values: Values) => Promise<Version<Resource>>
  onSaved?: () => void
  operation: Operation
  /** The names of the fields, for what somebody else has changed. */
  labels?: Partial<Record<keyof Values, string>>
  /** Tells why nothing can be changed now. */
  reason?: string | null
  fieldOf?: (pointer: string) => string
  /** True keeps the buttons in sight below a long form with changes. */
  isSticky?: boolean
  children: (form: UseFormReturnType<Values>) => ReactNode
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

function pickChanges<Values extends Record<string, unknown>>(before: Values, after: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => !isSame(value, before[key])),
  ) as Partial<Values>
}

/** Shows what a change does elsewhere, such as approvals that it takes from campaigns. */
function showWarnings(data: unknown): void {
  const { warnings = [] } = data as { warnings?: { detail: string }[] }
  for (const { detail } of warnings) notifications.show({ message: detail, color: 'yellow', autoClose: false })
}

/** Asks before somebody leaves the page with changes that are not saved. */
function useLeaveQuestion(isDirty: boolean): void {
  useBlocker({
    shouldBlockFn: () => isDirty && !confirm(words.common.leaveUnsaved),
    enableBeforeUnload: () => isDirty,
    disabled: !isDirty,
  })
}

/**
 * A form that changes a resource with an ETag. It takes in what others changed while nothing is typed. When a change is
 * refused because the resource has another version now, it says what differs and offers to load it. If the fields of
 * the form do not differ, it sends the change again.
 */
export function EditForm<Resource, Values extends Record<string, unknown>>({
  latest,
  read,
  save,
  onSaved,
  operation,
  labels = {},
  reason,
  fieldOf,
  isSticky = false,
  children,
}: Props<Resource, Values>) {
  const refusal = useRefusalReason(operation) ?? reason ?? null
  const [base, setBase] = useState(latest)
  const sentEtag = useRef<string | null>(null)
  const { form, mutation, submit, shown } = useSentForm<Values, Version<Resource>>({
    initialValues: read(latest.data),
    send: (values, headers) => {
      sentEtag.current = base.etag
      return save(pickChanges(read(base.data), values), { ...headers, ...ifUnchanged(base.etag) }, values)
    },
    done: words.common.saved,
    onSent: (version) => {
      load(version)
      showWarnings(version.data)
      onSaved?.()
    },
    ...(fieldOf && { fieldOf }),
  })
  const isDirty = !isSame(form.values, read(base.data))
  const load = (version: Version<Resource>, changes: Partial<Values> = {}) => {
    const values = read(version.data)
    setBase(version)
    form.setInitialValues(values)
    form.setValues({ ...values, ...changes })
    form.clearErrors()
    mutation.reset()
  }
  const isOutdated = mutation.error instanceof PreconditionFailedError
  useEffect(() => {
    if (latest === base) return
    if (!isDirty) load(latest)
    // An ETag also changes with what the form does not show, such as the state of an endpoint.
    else if (isSame(read(latest.data), read(base.data))) setBase(latest)
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [latest])
  useEffect(() => {
    // The new version can arrive before the refusal.
    if (isOutdated && isDirty && base.etag !== sentEtag.current) submit()
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [base, isOutdated])
  useLeaveQuestion(isDirty)
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Fieldset variant="unstyled" disabled={refusal !== null} miw={0} mx={0}>
          <Stack gap="sm">{children(form)}</Stack>
        </Fieldset>
        <Stack gap="xs" {...(isSticky && isDirty && { className: 'sticky' })}>
          {isOutdated ? (
            <OthersChanges
              changes={pickChanges(read(base.data), read(latest.data))}
              labels={labels}
              load={() => load(latest)}
              keep={() => load(latest, pickChanges(read(base.data), form.values))}
            />
          ) : (
            mutation.error && <Refusal error={mutation.error} shown={shown} />
          )}
          <FormButtons
            operation={operation}
            isDirty={isDirty}
            isPending={mutation.isPending}
            reason={reason ?? null}
            discard={() => load(latest)}
          />
        </Stack>
      </Stack>
    </form>
  )
}

interface ButtonsProps {
  operation: Operation
  isDirty: boolean
  isPending: boolean
  reason: string | null
  discard: () => void
}

const FormButtons = ({ operation, isDirty, isPending, reason, discard }: ButtonsProps) => (
  <Group gap="xs" justify="end">
    {isDirty && (
      <Button size="sm" variant="default" onClick={discard}>
        {words.common.discard}
      </Button>
    )}
    <ActionButton
      type="submit"
      operation={operation}
      loading={isPending}
      reason={reason ?? (isDirty ? null : words.common.nothingChanged)}
    >
      {words.common.save}
    </ActionButton>
  </Group>
)

interface OthersProps {
  changes: Record<string, unknown>
  labels: Partial<Record<string, string>>
  load: () => void
  /** Loads the new version without losing what the person has typed. */
  keep: () => void
}

const writeValue = (value: unknown): string =>
  value === null || value === '' ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

/** Says that somebody else has changed the resource, and what. */
const OthersChanges = ({ changes, labels, load, keep }: OthersProps) => (
  <Alert color="red" variant="outline" title={words.common.changedMeanwhile} role="alert">
    <Stack gap="xs">
      <Text size="sm">{words.common.changedMeanwhileHint}</Text>
      <List size="sm">
        {Object.entries(changes).map(([key, value]) => (
          <List.Item key={key} className="break">
            {labels[key] ?? key}: <b>{writeValue(value)}</b>
          </List.Item>
        ))}
      </List>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={load}>
          {words.common.reload}
        </Button>
        <Button size="xs" variant="default" onClick={keep}>
          {words.common.keepChanges}
        </Button>
      </Group>
    </Stack>
  </Alert>
)

interface DialogProps<Resource, Values> extends Omit<Props<Resource, Values>, 'latest'> {
  title: string
  /** The options of `getWithEtag`. The dialog reads the resource when it opens. */
  query: unknown
  close: () => void
  size?: ModalProps['size']
}

/** An `EditForm` in a dialog, for resources of a list. It is open as long as it is rendered. */
export function EditDialog<Resource, Values extends Record<string, unknown>>({
  title,
  query,
  close,
  size = 'md',
  ...form
}: DialogProps<Resource, Values>) {
  const resource = useQuery(query as UseQueryOptions) as UseQueryResult<Version<Resource>>
  return (
    <Modal opened onClose={close} title={title} size={size}>
      <Loaded query={resource} heights={[60, 60, 36]}>
        {(latest) => <EditForm {...form} latest={latest} onSaved={close} />}
      </Loaded>
    </Modal>
  )
}
