# Installs urtuu {version} for this user, or upgrades it. It needs no administrator and reports nothing to anyone.
#
#   .\install.ps1 [-Prefix FOLDER] [-From ADDRESS]
#
# The command goes to bin\ below the prefix (~\.local), the completion and documents to share\. ADDRESS is a mirror with
# the archive of this version; its checksum stands here.
param(
  [string]$Prefix = (Join-Path $HOME '.local'),
  [string]$From = '{downloads}'
)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
if (-not $From) { throw 'This installer has no address. Name a mirror: -From ADDRESS' }
$version = '{version}'
$sums = @{
{rows}
}
# A 32-bit PowerShell names the system in the second variable.
$architecture = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
$system = switch ($architecture) {
  'AMD64' { 'win-x64' }
  'ARM64' { 'win-arm64' }
  default { throw "There is no executable for $architecture. With Node.js 20 or newer: npm install --global urtuu" }
}
$name = "urtuu-$version-$system"
$Prefix = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Prefix)
$bin = Join-Path $Prefix 'bin'
$command = Join-Path $bin 'urtuu.exe'
$old = Join-Path $bin 'urtuu.old.exe'
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory $work | Out-Null
try {
  $archive = Join-Path $work "$name.zip"
  Invoke-WebRequest -UseBasicParsing "$From/$name.zip" -OutFile $archive
  if ((Get-FileHash -Algorithm SHA256 $archive).Hash -ne $sums[$system]) {
    throw "The checksum of $name.zip is wrong; nothing was installed. Download install.ps1 again, or use another mirror."
  }
  Expand-Archive $archive $work
  $fresh = Join-Path $work "$name\bin\urtuu.exe"
  if ((& $fresh --version) -ne $version) { throw 'The executable does not run here; nothing was installed.' }
  New-Item -ItemType Directory -Force $bin | Out-Null
  $before = if (Test-Path $command) { & $command --version }
  $running = @(Get-Process urtuu -ErrorAction SilentlyContinue | Where-Object { $_.Path -eq $command })
  # A program that runs cannot be replaced, but renamed.
  if (Test-Path $old) { Remove-Item $old }
  if ($before) { Move-Item $command $old }
  Copy-Item $fresh $command
  if ($running.Count -eq 0 -and (Test-Path $old)) { Remove-Item $old }
  Copy-Item -Recurse -Force (Join-Path $work "$name\share") $Prefix
  if ($before) { "Replaced urtuu $before with {version}: $command" } else { "Installed urtuu {version}: $command" }
  if (($env:PATH -split ';') -notcontains $bin) { "Add $bin to your PATH." }
  foreach ($process in $running) { "The old version still runs (pid $($process.Id)). If it is a service, restart it." }
  "To remove it: Remove-Item -Recurse '$command', '$Prefix\share\doc\urtuu', '$Prefix\share\powershell\urtuu.ps1'"
  'Jobs and profiles stay where they are: urtuu doctor names the folders.'
} finally {
  Remove-Item -Recurse -Force $work
}
