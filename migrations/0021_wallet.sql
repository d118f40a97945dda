-- Passes for the wallets of phones.

-- The look of passes. A design without a product is for every product that has none of its own.
create table pass_designs (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  product_id text references products (id),
  name text not null,
  name_key text not null,
  name_folded text not null,
  -- Colours and texts as JSON.
  design text not null default '{}' check (json_valid(design)),
  -- An image of the organization, which Google shows.
  logo_image_id text references files (id),
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- Finds the design for a product.
create index pass_designs_of_edition on pass_designs (edition_id, product_id);
-- Serves the list of designs of an organization.
create index pass_designs_of_organization on pass_designs (organization_id, created_at, id);
-- Finds the designs of a product before it is deleted.
create index pass_designs_of_product on pass_designs (product_id) where product_id is not null;
-- Finds what uses a file before the file is deleted.
create index pass_designs_by_image on pass_designs (logo_image_id) where logo_image_id is not null;

-- One row per pass.
create table wallet_passes (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  purchase_id text not null references purchases (id),
  platform text not null,
  -- The vendor of the platform when the pass was issued. Events name it.
  provider text not null,
  serial_number text not null unique,
  -- SHA-256 of the token that a phone shows to the web service; null on platforms without one, and after an erasure.
  token_hash text,
  status text not null,
  -- The number of phones that hold the pass.
  registrations_count integer not null default 0 check (registrations_count >= 0),
  added_at integer,
  removed_at integer,
  -- Expiry of the last callback that counted. An older one comes too late.
  callback_expires_at integer,
  -- Rises with every change of any pass, so that a phone can ask for what changed since.
  change_number integer not null,
  -- Moves by at least a second, because HTTP dates have whole seconds.
  changed_at integer not null,
  -- When the platform is told of the last change; null when it knows.
  due_at integer,
  claimed_until integer,
  attempts integer not null default 0,
  update_error text,
  -- The reason why the last change waits at the platform, and since when. `due_at` is the next attempt.
  waiting_reason text,
  waiting_since integer,
  -- When Google stored its copy. Null until then, and for Apple.
  stored_at integer,
  voided_at integer,
  -- The accounts that issued and voided the pass.
  created_by text,
  voided_by text,
  version integer not null default 1,
  created_at integer not null,
  modified_at integer not null
) strict, without rowid;
-- A purchase has at most one active pass per platform.
create unique index wallet_passes_active on wallet_passes (purchase_id, platform) where status = 'active';
-- Serves the passes of a purchase.
create index wallet_passes_of_purchase on wallet_passes (purchase_id, created_at, id);
-- Finds what changed since a number, and the highest number.
create index wallet_passes_by_change on wallet_passes (change_number);
-- Finds passes whose platform has to be told of a change.
create index wallet_passes_due on wallet_passes (due_at) where due_at is not null;
-- Finds the pass that has waited longest for its platform.
create index wallet_passes_waiting on wallet_passes (platform, waiting_since) where waiting_since is not null;
-- Finds the passes of an edition, which a sweep marks as changed step by step.
create index wallet_passes_of_edition on wallet_passes (edition_id, platform, id);

-- Content that all passes of an edition show: one row per edition that has passes. When it changes, Google is told once,
-- because it stores the edition as the class of its passes. Apple's passes are marked as changed step by step.
create table wallet_editions (
  edition_id text primary key references editions (id),
  has_google_passes integer not null check (has_google_passes in (0, 1)),
  -- Rises with every change.
  change_number integer not null default 1,
  -- When Google is told of the last change of the class; null when it knows. 0 is at once.
  due_at integer,
  claimed_until integer,
  attempts integer not null default 0,
  update_error text,
  -- The reason why the last change waits at Google, and since when. `due_at` is the next attempt.
  waiting_reason text,
  waiting_since integer,
  -- The last pass for Apple that was marked since the last change; null when all are. Empty before the first one.
  apple_marked_to text,
  -- The last pass for Google that was marked, as above. They are marked only when more than their class changes.
  google_marked_to text,
  -- When passes were last marked. Editions take turns.
  marked_at integer not null default 0
) strict, without rowid;
-- Finds editions whose class has to be changed at Google.
create index wallet_editions_due on wallet_editions (due_at) where due_at is not null;
-- Finds editions that wait for Google.
create index wallet_editions_waiting on wallet_editions (waiting_since) where waiting_since is not null;
-- Finds the edition whose passes are marked next.
create index wallet_editions_to_mark on wallet_editions (marked_at)
  where coalesce(apple_marked_to, google_marked_to) is not null;

-- Triggers note these changes, whoever makes them: the API, an import or an operator in the database.
create trigger wallet_edition_changed
  after update of full_name, start_at, end_at, timezone, default_language on editions
  when new.full_name <> old.full_name or new.start_at is not old.start_at or new.end_at is not old.end_at
    or new.timezone <> old.timezone or new.default_language <> old.default_language
begin
  update wallet_editions set change_number = change_number + 1, due_at = iif(has_google_passes, 0, null), attempts = 0,
      apple_marked_to = '',
      google_marked_to = iif(new.default_language <> old.default_language, '', google_marked_to)
    where edition_id = new.id;
end;

create trigger wallet_organization_renamed after update of name on organizations when new.name <> old.name
begin
  update wallet_editions set change_number = change_number + 1, due_at = iif(has_google_passes, 0, null), attempts = 0,
      apple_marked_to = ''
    where edition_id in (select id from editions where organization_id = new.id);
end;

create trigger wallet_design_changed after update of design, logo_image_id, product_id on pass_designs
  when new.design <> old.design or new.logo_image_id is not old.logo_image_id or new.product_id is not old.product_id
begin
  update wallet_editions set change_number = change_number + 1, due_at = iif(has_google_passes, 0, null), attempts = 0,
      apple_marked_to = '', google_marked_to = ''
    where edition_id = new.edition_id;
end;

create trigger wallet_design_added after insert on pass_designs
begin
  update wallet_editions set change_number = change_number + 1, due_at = iif(has_google_passes, 0, null), attempts = 0,
      apple_marked_to = '', google_marked_to = ''
    where edition_id = new.edition_id;
end;

create trigger wallet_design_removed after delete on pass_designs
begin
  update wallet_editions set change_number = change_number + 1, due_at = iif(has_google_passes, 0, null), attempts = 0,
      apple_marked_to = '', google_marked_to = ''
    where edition_id = old.edition_id;
end;

-- A product that is merged takes the other one's name. Its passes are marked when their purchases move.
create trigger wallet_product_renamed after update of name, name_translations on products
  when (new.name <> old.name or new.name_translations <> old.name_translations) and new.merged_into_id is null
begin
  update wallet_editions set change_number = change_number + 1, apple_marked_to = '', google_marked_to = ''
    where edition_id = new.edition_id;
end;

create trigger wallet_variant_renamed after update of name on variants when new.name <> old.name
begin
  update wallet_editions set change_number = change_number + 1, apple_marked_to = '', google_marked_to = ''
    where edition_id = (select edition_id from products where id = new.product_id);
end;

create trigger wallet_location_renamed after update of name on locations when new.name <> old.name
begin
  update wallet_editions set change_number = change_number + 1, apple_marked_to = ''
    where edition_id = new.edition_id;
end;

-- Phones that ask for the changes of a pass.
create table wallet_registrations (
  pass_id text not null references wallet_passes (id),
  device_id text not null,
  push_token text not null,
  -- The change that the phone was last told of.
  notified_number integer not null,
  created_at integer not null,
  modified_at integer not null,
  primary key (pass_id, device_id)
) strict, without rowid;
-- Finds the passes of a phone.
create index wallet_registrations_of_device on wallet_registrations (device_id, pass_id);
-- Finds phones that were not told of the last change.
create index wallet_registrations_to_notify on wallet_registrations (pass_id, notified_number);

-- Callbacks that were processed, until they expire, so that each nonce counts once.
create table wallet_callbacks (
  nonce_hash text primary key,
  pass_id text not null references wallet_passes (id),
  event text not null,
  expires_at integer not null,
  created_at integer not null
) strict, without rowid;
-- Finds expired callbacks, which a sweep deletes.
create index wallet_callbacks_by_expiry on wallet_callbacks (expires_at);
