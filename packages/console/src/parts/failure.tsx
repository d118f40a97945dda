import { Anchor, Container } from '@mantine/core'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
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

/** Shown outside the frame of the console, for an address that no page begins with. */
export const UnknownAddress = () => (
  <Container component="main" py="xl">
    <Heading title={words.common.notFound} />
    <Empty
      title={words.common.notFound}
      hint={words.common.notFoundHint}
      action={<Anchor renderRoot={(props) => <Link to="/" {...props} />}>{words.common.entries.home}</Anchor>}
    />
  </Container>
)

export const NotFound = () => (
  <>
    <Heading title={words.common.notFound} />
    <Empty title={words.common.notFoundHint} />
  </>
)
