import type { ErrorComponentProps } from '@tanstack/react-router'
import { words } from '../words'
import { Empty } from './empty'
import { Heading } from './heading'
import { Refusal } from './refusal'

/** Shown instead of a page that threw an error. */
export const Failure = ({ error, reset }: ErrorComponentProps) => (
  <>
    <Heading title={words.common.error} />
    <Refusal error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  </>
)

export const NotFound = () => (
  <>
    <Heading title={words.common.notFound} />
    <Empty title={words.common.notFound} hint={words.common.notFoundHint} />
  </>
)
