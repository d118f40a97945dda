import { ApiError } from '@event-commerce/client'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, type UseMutationResult } from '@tanstack/react-query'
import { useMemo, useState } from 'react'

/** Headers of a call. The same values are sent with the same key: a lost answer makes nothing twice. */
export type SendHeaders = { 'Idempotency-Key': string }

/** A key for the attempts to send these values. Other values get another key. */
export function useIdempotencyKey(values: unknown): SendHeaders {
  const json = JSON.stringify(values)
  // eslint-disable-next-line react-hooks/exhaustive-deps
  return useMemo(() => ({ 'Idempotency-Key': crypto.randomUUID() }), [json])
}

interface FormOptions<Values, Result> {
  initialValues: Values
  send: (values: Values, headers: SendHeaders) => Promise<Result>
  /** Called with what `send` returns. */
  onSent?: ((result: Result) => unknown) | undefined
  /** The text of the notification after success. */
  done?: string | undefined
  /** Names the field of the form for a pointer of the API, where the two differ. Default: `#/a/0/b` is `a.0.b`. */
  fieldOf?: (pointer: string) => string
}

export interface SentForm<Values, Result> {
  form: UseFormReturnType<Values>
  mutation: UseMutationResult<Result, Error, Values>
  submit: (event?: React.FormEvent<HTMLFormElement>) => void
  /** The pointers of errors that the form shows at its fields. */
  shown: readonly string[]
}

const readPointer = (pointer: string): string => pointer.replace('#/', '').replaceAll('/', '.')

const hasField = (values: unknown, path: string): boolean =>
  path.split('.').reduce<unknown>((value, name) => (Object(value) as Record<string, unknown>)[name], values) !==
  undefined

/** A form whose values are sent by a call. Errors that the call names by pointer show at their fields. */
export function useSentForm<Values extends Record<string, unknown>, Result>({
  initialValues,
  send,
  onSent,
  done,
  fieldOf = readPointer,
}: FormOptions<Values, Result>): SentForm<Values, Result> {
  const [shown, setShown] = useState<readonly string[]>([])
  const form = useForm<Values>({ initialValues })
  // The service answers a key that it has refused with the same refusal, although the cause may be gone.
  const [refusals, setRefusals] = useState(0)
  const headers = useIdempotencyKey([form.values, refusals])
  const mutation = useMutation({
    mutationFn: (values: Values) => send(values, headers),
    onSuccess: (result) => {
      setShown([])
      if (done) notifications.show({ message: done, color: 'teal' })
      return onSent?.(result)
    },
    onError: (error) => {
      if (error instanceof ApiError && error.status < 500) setRefusals((count) => count + 1)
      const faults = error instanceof ApiError ? error.errors : []
      const atFields = faults.flatMap(({ pointer, detail }) =>
        pointer !== null && hasField(form.values, fieldOf(pointer)) ? [{ pointer, detail }] : [],
      )
      setShown(atFields.map(({ pointer }) => pointer))
      form.setErrors(Object.fromEntries(atFields.map(({ pointer, detail }) => [fieldOf(pointer), detail])))
    },
  })
  const submit = form.onSubmit((values) => mutation.mutate(values))
  return { form, mutation, submit, shown }
}

/** A call without a form. `done` is the text of the notification after success. */
export function useChange<Values, Result>(
  send: (values: Values, headers: SendHeaders) => Promise<Result>,
  { done, onSent }: { done?: string; onSent?: (result: Result) => unknown } = {},
): UseMutationResult<Result, Error, Values> {
  return useMutation({
    // A click after an error is a new attempt: the client itself has repeated lost calls with the first key.
    mutationFn: (values: Values) => send(values, { 'Idempotency-Key': crypto.randomUUID() }),
    onSuccess: (result) => {
      if (done) notifications.show({ message: done, color: 'teal' })
      return onSent?.(result)
    },
  })
}
