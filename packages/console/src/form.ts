import { ApiError } from '@event-commerce/client'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useUnsaved } from './unsaved'

/** Headers of a call. */
export type SendHeaders = { 'Idempotency-Key': string }

/** True if the service has refused the call for good. After other errors nobody knows whether it did its work. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 409

/**
 * A mutation whose calls have an Idempotency-Key. Until an attempt has its answer, the same values are sent with the
 * same key, so a lost answer makes nothing twice. A refusal belongs to its key: the next attempt needs another one.
 */
function useKeyedMutation<Values, Result>(
  send: (values: Values, headers: SendHeaders) => Promise<Result>,
  options: Pick<UseMutationOptions<Result, Error, Values>, 'onSuccess' | 'onError'>,
): UseMutationResult<Result, Error, Values> {
  const keys = useRef(new Map<string | undefined, string>())
  return useMutation({
    mutationFn: async (values: Values) => {
      const json = JSON.stringify(values)
      const key = keys.current.get(json) ?? crypto.randomUUID()
      keys.current.set(json, key)
      try {
        const result = await send(values, { 'Idempotency-Key': key })
        keys.current.delete(json)
        return result
      } catch (error) {
        if (isRefused(error)) keys.current.delete(json)
        throw error
      }
    },
    ...options,
  })
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
  useUnsaved(form.isDirty())
  const mutation = useKeyedMutation(send, {
    onSuccess: (result) => {
      setShown([])
      if (done) notifications.show({ message: done, color: 'teal' })
      return onSent?.(result)
    },
    onError: (error) => {
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
  return useKeyedMutation(send, {
    onSuccess: (result) => {
      if (done) notifications.show({ message: done, color: 'teal' })
      return onSent?.(result)
    },
  })
}
